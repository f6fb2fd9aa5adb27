"""What is kept: people, conversations, turns and their logs. The only place with SQL.

Start at `Store`. It knows no HTTP and no engine, and every question about something a person
owns is asked in that person's name: what is not theirs is not there.
"""

from hitsend.store.accounts import Accounts
from hitsend.store.changes import Changes
from hitsend.store.conversations import Conversations
from hitsend.store.feedback import AnswerFeedback
from hitsend.store.folders import Folders
from hitsend.store.imports import Imported, Imports
from hitsend.store.ledger import allowance
from hitsend.store.rows import (
    AccountRole,
    ApiKey,
    Closing,
    Conversation,
    ConversationLine,
    Entry,
    Exchange,
    Folder,
    Found,
    Invite,
    LimitScope,
    Memory,
    MemoryPage,
    NewTurn,
    Page,
    PersonLine,
    Profile,
    Reach,
    Running,
    Session,
    Share,
    Shared,
    StoredMessage,
    Summary,
    Surface,
    TurnRow,
    TurnState,
    User,
)
from hitsend.store.shares import Shares
from hitsend.store.spending import (
    Budget,
    Caller,
    Group,
    KeyLine,
    Limit,
    LimitLine,
    Price,
    UsageRow,
)
from hitsend.store.store import Store
from hitsend.store.turns import Turns

__all__ = [
    "AccountRole",
    "Accounts",
    "AnswerFeedback",
    "ApiKey",
    "Budget",
    "Caller",
    "Changes",
    "Closing",
    "Conversation",
    "ConversationLine",
    "Conversations",
    "Entry",
    "Exchange",
    "Folder",
    "Folders",
    "Found",
    "Group",
    "Imported",
    "Imports",
    "Invite",
    "KeyLine",
    "Limit",
    "LimitLine",
    "LimitScope",
    "Memory",
    "MemoryPage",
    "NewTurn",
    "Page",
    "PersonLine",
    "Price",
    "Profile",
    "Reach",
    "Running",
    "Session",
    "Share",
    "Shared",
    "Shares",
    "Store",
    "StoredMessage",
    "Summary",
    "Surface",
    "TurnRow",
    "TurnState",
    "Turns",
    "UsageRow",
    "User",
    "allowance",
]
