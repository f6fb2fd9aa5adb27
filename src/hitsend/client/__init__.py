"""The Python client: talks HTTP to a hitsend server, and knows nothing of what is behind it."""

from hitsend.client.backoff import Backoff
from hitsend.client.client import Client
from hitsend.client.shapes import (
    Conversation,
    ConversationLine,
    ConversationPage,
    Me,
    Message,
    Model,
    ModelList,
    Node,
    Running,
    User,
)
from hitsend.client.updates import Delayed, Finished, Started, TextAdded, Titled, Update

__all__ = [
    "Backoff",
    "Client",
    "Conversation",
    "ConversationLine",
    "ConversationPage",
    "Delayed",
    "Finished",
    "Me",
    "Message",
    "Model",
    "ModelList",
    "Node",
    "Running",
    "Started",
    "TextAdded",
    "Titled",
    "Update",
    "User",
]
