"""The store's rows as values. They know no SQL."""

from typing import Literal, NamedTuple, TypeAlias

import msgspec

from hitsend.events import Action, Ending, Stamped
from hitsend.messages import Feedback, Message, Part, Role, UsedPrompt
from hitsend.safety.policy import Screening
from hitsend.transcript import FoldedMessage, Transcript

AccountRole: TypeAlias = Literal["admin", "reviewer", "member"]
"""A reviewer decides about messages that the safety checks blocked or were unsure of."""
Surface: TypeAlias = Literal["chat", "api", "import"]
LimitScope: TypeAlias = Literal["everyone", "group", "user", "key", "address"]
KeyScope: TypeAlias = Literal["chat", "read", "memory", "admin"]
"""An API key may send and use /v1, read its owner's conversations, read and change their memories
over MCP, or administer."""
MemoryOrigin: TypeAlias = Literal["asked", "written", "suggested"]
"""Asked for in a chat, written on the memories page, or suggested by a model."""
TurnState: TypeAlias = Literal["running"] | Ending


class User(msgspec.Struct, frozen=True):
    id: str
    name: str
    role: AccountRole


class AccountItem(msgspec.Struct, frozen=True):
    """An account in the administrator's list."""

    id: str
    name: str
    role: AccountRole
    created_at: float
    is_disabled: bool
    last_seen_at: float | None
    num_conversations: int
    group_id: str | None


class Session(msgspec.Struct, frozen=True):
    """A signed-in browser. Only the browser has the token."""

    id: str
    user_id: str
    user_agent: str
    created_at: float
    last_seen_at: float
    rotated_at: float
    expires_at: float
    confirmed_at: float | None = None
    """When the password was given last."""
    needs_second_factor: bool = False
    """The person has to set one up before anything else."""


class ApiKey(msgspec.Struct, frozen=True):
    id: str
    user_id: str
    prefix: str
    label: str
    created_at: float
    last_used_at: float | None
    """Accurate to a minute."""
    scopes: tuple[KeyScope, ...]
    expires_at: float | None
    """None: never."""


class Authenticator(msgspec.Struct, frozen=True):
    """An authenticator app. Its secret stays in the store."""

    created_at: float
    last_used_at: float | None


class Passkey(msgspec.Struct, frozen=True):
    id: str
    credential_id: bytes
    public_key: bytes
    sign_count: int
    host: str
    """The host name it was made for. It works under no other."""
    name: str
    created_at: float
    last_used_at: float | None


class NewPasskey(msgspec.Struct, frozen=True):
    """A passkey as its authenticator made it."""

    credential_id: bytes
    public_key: bytes
    sign_count: int
    host: str


class SecondFactors(msgspec.Struct, frozen=True):
    """The authenticator app, passkeys and recovery codes of a person."""

    authenticator: Authenticator | None
    passkeys: tuple[Passkey, ...]
    num_recovery_codes: int
    """Counts unused codes only."""

    @property
    def is_on(self) -> bool:
        return self.authenticator is not None or bool(self.passkeys)


class Invite(msgspec.Struct, frozen=True):
    id: str
    role: AccountRole
    created_by: str
    created_at: float
    expires_at: float
    used_by: str | None
    """The name of the person who used it."""


class ToolPermission(msgspec.Struct, frozen=True):
    """A tool that a person lets run without asking."""

    id: str
    tool: str
    server: str
    """The title of its MCP server. Empty for our own."""
    conversation_id: str | None
    """None: in all conversations."""
    created_at: float


class Reset(msgspec.Struct, frozen=True):
    """A password reset, as its person sees it."""

    id: str
    made_by: str
    """The administrator's name, or empty for the command line."""
    created_at: float
    expires_at: float
    used_at: float | None
    seen_at: float | None


class ConversationItem(msgspec.Struct, frozen=True):
    """A conversation in the list."""

    id: str
    title: str
    created_at: float
    updated_at: float
    is_archived: bool
    is_pinned: bool
    folder_id: str | None
    found: "SearchHit | None" = None
    """The matching message. None if only the title matches."""


class SearchHit(msgspec.Struct, frozen=True):
    message_id: str
    snippet: str
    """U+0002 and U+0003 surround each match."""


class ConversationPage(msgspec.Struct, frozen=True):
    items: tuple[ConversationItem, ...]
    total: int


class MessageRow(FoldedMessage, frozen=True, kw_only=True):
    turn_id: str
    model: str | None
    """None for a person's message."""
    created_at: float
    is_imported: bool = False
    """From an imported file: its turn has no events."""
    feedback: Feedback | None = None


class MessageSize(msgspec.Struct, frozen=True):
    """How long a message is, without its text."""

    message_id: str
    parent_id: str | None
    role: Role
    num_chars: int
    """About: the text is JSON, with its escapes."""


class PathLimit(msgspec.Struct, frozen=True):
    """How far back to read a path: to the message `start_id`, or else to the first message this
    model was shown in full when it last answered; and at most `num_chars` characters."""

    model: str
    num_chars: int
    start_id: str | None = None


class PastPlace(NamedTuple):
    """Where an exchange is, among all conversations of a person."""

    conversation_id: str
    message_id: str
    """The answer's id."""


class PastMessage(msgspec.Struct, frozen=True):
    """A message that a search found among all conversations of a person."""

    conversation_id: str
    message_id: str
    """Empty if the title was found."""
    title: str
    at: float
    text: str
    """What was found, or a part of it."""


class Exchange(msgspec.Struct, frozen=True):
    """A question and its answer, each cut to a maximum length."""

    message_id: str
    """The answer's id."""
    question: str
    answer: str


class Summary(msgspec.Struct, frozen=True):
    """A summary of a range of messages on one path of a conversation."""

    id: str
    first_message_id: str
    last_message_id: str
    level: int
    """1 summarises messages, 2 summarises summaries of level 1, and so on."""
    text: str


class RunningAnswer(msgspec.Struct, frozen=True):
    """An answer that is being written."""

    turn_id: str
    answer_id: str


class Conversation(msgspec.Struct, frozen=True):
    """A conversation with all its messages, siblings in order of creation."""

    id: str
    title: str
    created_at: float
    updated_at: float
    current_node: str | None
    is_archived: bool
    is_pinned: bool
    folder_id: str | None
    is_temporary: bool
    """Not listed, without memory, and deleted after a day."""
    messages: tuple[MessageRow, ...]
    running: RunningAnswer | None


class Folder(msgspec.Struct, frozen=True):
    id: str
    name: str
    num_conversations: int


class Share(msgspec.Struct, frozen=True):
    """A path of a conversation that anyone who knows the share's id may read."""

    id: str
    title: str
    conversation_id: str
    created_at: float


class SharedPath(msgspec.Struct, frozen=True):
    """A share as its readers see it, without its owner."""

    title: str
    created_at: float
    messages: tuple[MessageRow, ...]


class NewTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn to store before it runs."""

    turn_id: str
    user_id: str
    conversation_id: str | None
    """None for an API call, which belongs to no conversation."""
    creates_conversation: bool = False
    title: str = ""
    """Title of the conversation to create."""
    is_temporary: bool = False
    """Whether the conversation to create is temporary."""
    action: Action
    model: str
    message_id: str | None = None
    """The person's new message. None for a variant or a continuation."""
    parent_id: str | None = None
    """The parent of the new message or, without one, of the answer."""
    parts: tuple[Part, ...] = ()
    answer_id: str
    given: tuple[Message, ...] = ()
    """The messages of an API call."""
    prompts: tuple[UsedPrompt, ...] = ()
    """The prompt versions used."""
    key_id: str | None = None
    """The API key of the request."""
    address: str | None = None
    """The client's address."""
    num_prompt_tokens: int = 0
    num_answer_tokens: int = 0
    """The requested maximum."""
    num_beams: int = 1
    """Beams of a beam search. Each uses as many tokens as one answer."""
    created_at: float
    key: str | None = None
    """The idempotency key. It is accepted once a day."""
    fingerprint: str = ""
    """A hash of the request, to notice a reused key."""
    screening: Screening | None = None
    """What the safety checks made of the message."""


class TurnRow(msgspec.Struct, frozen=True):
    id: str
    user_id: str
    conversation_id: str | None
    surface: Surface
    action: Action
    model: str
    answer_id: str
    state: TurnState
    created_at: float
    finished_at: float | None
    num_input_tokens: int
    num_cached_tokens: int
    num_output_tokens: int
    epoch: int = 0


class LogEntry(msgspec.Struct, frozen=True):
    """One event of a turn's log."""

    turn_id: str
    stamped: Stamped


class FinishedTurn(msgspec.Struct, frozen=True):
    """A turn that ended, with the fold of its events."""

    turn_id: str
    transcript: Transcript
    finished_at: float


class Profile(msgspec.Struct, frozen=True):
    """A person's custom instructions and memory settings."""

    call_me: str = ""
    about_me: str = ""
    style: str = ""
    """How answers should be written."""
    is_on: bool = True
    uses_memory: bool = True
    suggests_memories: bool = False


class Memory(msgspec.Struct, frozen=True):
    """A fact to remember, in the person's own words."""

    id: str
    text: str
    origin: MemoryOrigin
    conversation_id: str | None
    """Where the person asked for it, until that is deleted."""
    is_suggested: bool
    """Not accepted yet, so not used."""
    created_at: float
    updated_at: float


class MemoryPage(msgspec.Struct, frozen=True):
    items: tuple[Memory, ...]
    total: int
