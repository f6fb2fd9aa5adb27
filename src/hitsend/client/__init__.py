"""The Python client of a hitsend server, over HTTP."""

from hitsend.client.answer import Answer
from hitsend.client.client import Client
from hitsend.client.connection import Backoff
from hitsend.client.errors import Disconnected, Interrupted, StreamInvalid
from hitsend.client.responses import Conversation, Message, Model, ModelList, Node
from hitsend.client.updates import (
    Delayed,
    Finished,
    Retrying,
    Started,
    TextAdded,
    TextReplaced,
    Titled,
    Update,
)
from hitsend.errors import (
    Conflict,
    EngineDown,
    EngineLost,
    HitsendError,
    KeyReused,
    ModelBroken,
    NotAllowed,
    NotFound,
    Overloaded,
    PromptTooLong,
    QuotaSpent,
    Refused,
    StoreDown,
    TooFast,
    TooLarge,
    Unauthenticated,
    Unavailable,
    UnknownModel,
)
from hitsend.wire.responses import ConversationPage, Me, Running, User
from hitsend.wire.responses import ConversationSummary as ConversationLine

__all__ = [
    "Answer",
    "Backoff",
    "Client",
    "Conflict",
    "Conversation",
    "ConversationLine",
    "ConversationPage",
    "Delayed",
    "EngineDown",
    "EngineLost",
    "Finished",
    "StreamInvalid",
    "HitsendError",
    "Interrupted",
    "KeyReused",
    "Disconnected",
    "Me",
    "Message",
    "Model",
    "ModelBroken",
    "ModelList",
    "Node",
    "NotAllowed",
    "NotFound",
    "Overloaded",
    "PromptTooLong",
    "QuotaSpent",
    "Refused",
    "Retrying",
    "Running",
    "Started",
    "StoreDown",
    "TextAdded",
    "TextReplaced",
    "Titled",
    "TooFast",
    "TooLarge",
    "Unauthenticated",
    "Unavailable",
    "UnknownModel",
    "Update",
    "User",
]
