"""The database: accounts, conversations, turns and their event logs. The only package with SQL.

Start at `Store`. It knows no HTTP and no engine. Every query about something a person owns takes
their user id: another person's rows are not found.
"""

from hitsend.store.accounts import Accounts
from hitsend.store.audit import NO_FILTER, AuditEntry, AuditFilter
from hitsend.store.audit_events import COMMAND_LINE, SERVER, Actor
from hitsend.store.conversations import Conversations
from hitsend.store.feedback import AnswerFeedback
from hitsend.store.folders import Folders
from hitsend.store.imports import ImportCounts, Imports
from hitsend.store.ledger import as_allowance
from hitsend.store.limit_rows import (
    Budget,
    Caller,
    Group,
    KeyItem,
    Limit,
    LimitItem,
    Price,
    UsageRow,
)
from hitsend.store.message_path import MessagePath
from hitsend.store.recent_changes import RecentChanges
from hitsend.store.rows import (
    AccountItem,
    AccountRole,
    ApiKey,
    Authenticator,
    Conversation,
    ConversationItem,
    ConversationPage,
    Exchange,
    FinishedTurn,
    Folder,
    Invite,
    KeyScope,
    LimitScope,
    LogEntry,
    Memory,
    MemoryPage,
    MessageRow,
    MessageSize,
    NewPasskey,
    NewTurn,
    Passkey,
    PastMessage,
    PastPlace,
    PathLimit,
    Profile,
    Reset,
    RunningAnswer,
    SearchHit,
    SecondFactors,
    Session,
    Share,
    SharedPath,
    Summary,
    Surface,
    TurnRow,
    TurnState,
    User,
)
from hitsend.store.safety_policies import EVERYONE, VersionedPolicy
from hitsend.store.shares import Shares
from hitsend.store.store import Store
from hitsend.store.tool_files import NewFile
from hitsend.store.turns import Turns

__all__ = [
    "COMMAND_LINE",
    "EVERYONE",
    "NO_FILTER",
    "SERVER",
    "AccountRole",
    "Actor",
    "AuditEntry",
    "AuditFilter",
    "Accounts",
    "AnswerFeedback",
    "ApiKey",
    "Authenticator",
    "Budget",
    "Caller",
    "RecentChanges",
    "FinishedTurn",
    "Conversation",
    "ConversationItem",
    "Conversations",
    "LogEntry",
    "Exchange",
    "Folder",
    "Folders",
    "SearchHit",
    "Group",
    "ImportCounts",
    "Imports",
    "Invite",
    "KeyItem",
    "KeyScope",
    "Limit",
    "LimitItem",
    "LimitScope",
    "Memory",
    "MemoryPage",
    "NewFile",
    "NewPasskey",
    "NewTurn",
    "Passkey",
    "ConversationPage",
    "AccountItem",
    "Price",
    "Profile",
    "PastMessage",
    "PastPlace",
    "PathLimit",
    "Reset",
    "RunningAnswer",
    "SecondFactors",
    "Session",
    "Share",
    "SharedPath",
    "Shares",
    "Store",
    "MessagePath",
    "MessageRow",
    "MessageSize",
    "Summary",
    "Surface",
    "TurnRow",
    "TurnState",
    "Turns",
    "UsageRow",
    "User",
    "VersionedPolicy",
    "as_allowance",
]
