"""Recall: what was said or remembered before, found again by its meaning. Start at `Recall`."""

from hitsend.recall.exact import ExactSearch, Nearest
from hitsend.recall.recall import Recall
from hitsend.recall.room import within

__all__ = ["ExactSearch", "Nearest", "Recall", "within"]
