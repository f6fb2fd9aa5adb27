"""Everything the audit log can record, and who did it.

An entry has ids, numbers and names of hitsend's own things: no text that people wrote to models, no
passwords, keys or links. Names of people are kept apart (`audit.py`), so that they can be erased.

Entries are read back for years: a new field has a default, and no kind or field is ever renamed.
"""

from typing import Any, Literal, TypeAlias

from msgspec import Struct

from hitsend.store.limit_rows import Limit, Price
from hitsend.store.mcp_rows import Audience, ServerKind
from hitsend.store.rows import AccountRole, KeyScope, LimitScope

Via: TypeAlias = Literal["page", "api", "command line", "server"]
FirstStep: TypeAlias = Literal["password", "invite", "first account"]
SecondStep: TypeAlias = Literal["authenticator", "passkey", "recovery_code"]


class Actor(Struct, frozen=True):
    """The user who did something, with their address."""

    via: Via
    user_id: str | None = None
    """None on the command line, for the server itself, and for someone who is not signed in."""
    address: str = ""
    session_id: str | None = None
    key_id: str | None = None
    agent: str = ""
    """The browser or program, such as `Firefox`."""


SERVER = Actor("server")
COMMAND_LINE = Actor("command line")


class AuditEvent(Struct, frozen=True, tag_field="kind", tag=True):
    """Something that happened."""


class UserEvent(AuditEvent, frozen=True):
    """Something that happened to an account."""

    user_id: str


# Signing in


class SignedIn(UserEvent, frozen=True):
    method: FirstStep
    second_factor: SecondStep | None = None


class SignInFailed(AuditEvent, frozen=True):
    """Tries with a wrong name or password. The first one at an account from an address is recorded
    at once; further ones within some minutes are counted and recorded as one entry."""

    user_id: str | None
    """None for a name nobody has. The name itself is not recorded: it may be a password."""
    num_tries: int = 1


class SignedOut(UserEvent, frozen=True):
    session_id: str
    """The session that ended: the caller's own, or that of another browser of theirs."""


class PasswordChanged(UserEvent, frozen=True):
    pass


class SecondFactorAdded(UserEvent, frozen=True):
    factor: Literal["authenticator", "passkey"]


class SecondFactorRemoved(UserEvent, frozen=True):
    factor: Literal["authenticator", "passkey", "all"]


class RecoveryCodesReplaced(UserEvent, frozen=True):
    pass


class RecoveryCodeUsed(UserEvent, frozen=True):
    """In place of another second factor, which may be lost."""


class ResetLinkCreated(UserEvent, frozen=True):
    """A link with which the person can choose a new password."""


class PasswordReset(UserEvent, frozen=True):
    method: Literal["link", "command line"]


# Accounts


class AccountCreated(UserEvent, frozen=True):
    role: AccountRole
    invite_id: str | None = None


class AccountRenamed(UserEvent, frozen=True):
    """The entry has the new name, and the old one as its actor's."""


class RoleChanged(UserEvent, frozen=True):
    role: AccountRole


class AccountDisabled(UserEvent, frozen=True):
    pass


class AccountEnabled(UserEvent, frozen=True):
    pass


class AccountDeleted(UserEvent, frozen=True):
    pass


class GroupJoined(UserEvent, frozen=True):
    group_id: str
    group: str


class GroupLeft(UserEvent, frozen=True):
    pass


class GroupCreated(AuditEvent, frozen=True):
    group_id: str
    group: str


class GroupRenamed(AuditEvent, frozen=True):
    group_id: str
    before: str
    group: str


class GroupFeaturesChanged(AuditEvent, frozen=True):
    """The features of tools that its people may turn on. None: all that there are."""

    group_id: str
    group: str
    before: tuple[str, ...] | None
    after: tuple[str, ...] | None


class SafetyPolicyChanged(AuditEvent, frozen=True):
    """`scope` is the id of a group, or `everyone`. None: back to the shipped policy."""

    scope: str
    group: str
    policy: dict[str, Any] | None


class ReviewDecided(UserEvent, frozen=True):
    """A reviewer decided about a message of the account."""

    review_id: str
    decision: str


class GroupDeleted(AuditEvent, frozen=True):
    group_id: str
    group: str


class InviteCreated(AuditEvent, frozen=True):
    invite_id: str
    role: AccountRole


class InviteRevoked(AuditEvent, frozen=True):
    invite_id: str


# Keys, limits, prices


class KeyCreated(UserEvent, frozen=True):
    key_id: str
    prefix: str
    """The key's first letters, which its owner's list of keys shows too."""
    scopes: tuple[KeyScope, ...] = ()


class KeyDeleted(UserEvent, frozen=True):
    key_id: str
    prefix: str


class LimitChanged(AuditEvent, frozen=True):
    scope: LimitScope
    target: str
    """A group's name, or a key's first letters."""
    before: Limit | None
    after: Limit | None
    """None where it was removed."""
    user_id: str | None = None
    """The person it is for, or the owner of the key."""


class PriceChanged(AuditEvent, frozen=True):
    model: str
    after: Price | None
    """None where it was removed."""


# Models


class ModelPulled(AuditEvent, frozen=True):
    """Recorded when its download starts."""

    model: str


class ModelRemoved(AuditEvent, frozen=True):
    model: str


# Conversations and data


class ShareCreated(AuditEvent, frozen=True):
    """The share's own id is not recorded: it is the link."""

    conversation_id: str


class ShareRevoked(AuditEvent, frozen=True):
    conversation_id: str


class ConversationsDeleted(AuditEvent, frozen=True):
    num_conversations: int
    conversation_id: str | None = None
    """Set if a single one was deleted."""


class ConversationRestored(AuditEvent, frozen=True):
    conversation_id: str


class MemoriesDeleted(AuditEvent, frozen=True):
    """All of the actor's."""


class DataExported(AuditEvent, frozen=True):
    content: Literal["account", "memories", "activity log", "reviews"]


class DataImported(AuditEvent, frozen=True):
    num_conversations: int


class BackupMade(AuditEvent, frozen=True):
    """Of the whole database, with `hitsend backup`."""


class BackupRestored(AuditEvent, frozen=True):
    """What was recorded between the backup and this entry is lost."""

    made_at: str
    """When the backup was made."""


# Prompts


class PromptWritten(AuditEvent, frozen=True):
    prompt: str
    version: int


class PromptActivated(AuditEvent, frozen=True):
    prompt: str
    version: int | None
    """None for the shipped one."""


class PromptSamplingChanged(AuditEvent, frozen=True):
    prompt: str
    sampling: dict[str, Any] | None
    """None for the shipped one."""


class ExperimentStarted(AuditEvent, frozen=True):
    experiment_id: str
    prompt: str
    versions: tuple[int, ...]


class ExperimentEnded(AuditEvent, frozen=True):
    experiment_id: str
    prompt: str
    winner: int | None


# Servers of tools


class McpServerAdded(AuditEvent, frozen=True):
    server_id: str
    server: str
    server_kind: ServerKind
    audience: Audience


class McpServerChanged(AuditEvent, frozen=True):
    server_id: str
    server: str
    fields: tuple[str, ...]
    """The names of what was changed, without the values: they may be secrets."""
    audience: Audience


class McpServerDeleted(AuditEvent, frozen=True):
    server_id: str
    server: str


class McpToolChanged(AuditEvent, frozen=True):
    server_id: str
    tool: str
    is_on: bool
    is_read_only: bool
    """Whether its calls run without asking."""
    is_confirmed: bool = False
    """A change that its server made was confirmed."""


class McpSignedIn(AuditEvent, frozen=True):
    """At a server, through OAuth."""

    server_id: str
    server: str


class McpSignedOut(AuditEvent, frozen=True):
    server_id: str


# The log itself


class EntriesExpired(AuditEvent, frozen=True):
    """Entries were older than they are kept. The chain goes on from the hash of the last one."""

    through: int
    """Entries up to this position were removed."""
    hash: str


class EarlierChange(AuditEvent, frozen=True):
    """A change in a form that only an earlier version recorded."""

    action: str
    subject: str
    detail: dict[str, str]


AnyAuditEvent: TypeAlias = (
    SignedIn
    | SignInFailed
    | SignedOut
    | PasswordChanged
    | SecondFactorAdded
    | SecondFactorRemoved
    | RecoveryCodesReplaced
    | RecoveryCodeUsed
    | ResetLinkCreated
    | PasswordReset
    | AccountCreated
    | AccountRenamed
    | RoleChanged
    | AccountDisabled
    | AccountEnabled
    | AccountDeleted
    | GroupJoined
    | GroupLeft
    | GroupCreated
    | GroupRenamed
    | GroupFeaturesChanged
    | GroupDeleted
    | SafetyPolicyChanged
    | ReviewDecided
    | InviteCreated
    | InviteRevoked
    | KeyCreated
    | KeyDeleted
    | LimitChanged
    | PriceChanged
    | ModelPulled
    | ModelRemoved
    | ShareCreated
    | ShareRevoked
    | ConversationsDeleted
    | ConversationRestored
    | MemoriesDeleted
    | DataExported
    | DataImported
    | BackupMade
    | BackupRestored
    | PromptWritten
    | PromptActivated
    | PromptSamplingChanged
    | ExperimentStarted
    | ExperimentEnded
    | McpServerAdded
    | McpServerChanged
    | McpServerDeleted
    | McpToolChanged
    | McpSignedIn
    | McpSignedOut
    | EntriesExpired
    | EarlierChange
)


def subject_id(event: AuditEvent) -> str | None:
    """Returns the id of the account that the event is about."""
    return event.user_id if isinstance(event, UserEvent | SignInFailed | LimitChanged) else None
