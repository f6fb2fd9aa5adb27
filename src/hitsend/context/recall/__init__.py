"""Recall: finds older messages and memories that are relevant to a question. Start at `Recall`."""

from hitsend.context.recall.conversations import ConversationRecall
from hitsend.context.recall.recall import Recall
from hitsend.context.recall.vector_search import ExactSearch, VectorIndex

__all__ = ["ConversationRecall", "ExactSearch", "Recall", "VectorIndex"]
