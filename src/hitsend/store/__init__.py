"""What is kept: people, conversations, turns and their logs. The only place with SQL.

Start at `Store`. It knows no HTTP and no engine, and every question about something a person
owns is asked in that person's name: what is not theirs is not there.
"""

from hitsend.store.accounts import Accounts
from hitsend.store.conversations import Conversations
from hitsend.store.rows import (
    AccountRole,
    ApiKey,
    Closing,
    Conversation,
    ConversationLine,
    Entry,
    Invite,
    NewTurn,
    Page,
    Running,
    Session,
    StoredMessage,
    Surface,
    TurnRow,
    TurnState,
    User,
)
from hitsend.store.store import Store
from hitsend.store.turns import Turns

__all__ = [
    "AccountRole",
    "Accounts",
    "ApiKey",
    "Closing",
    "Conversation",
    "ConversationLine",
    "Conversations",
    "Entry",
    "Invite",
    "NewTurn",
    "Page",
    "Running",
    "Session",
    "Store",
    "StoredMessage",
    "Surface",
    "TurnRow",
    "TurnState",
    "Turns",
    "User",
]
