"""What goes into the store and comes out of it, as values. They know no SQL."""

from typing import Literal, TypeAlias

import msgspec

from hitsend.events import Action, Ending, Stamped
from hitsend.messages import Feedback, Message, Part, UsedPrompt
from hitsend.transcript import Said, Transcript

AccountRole: TypeAlias = Literal["admin", "member"]
Surface: TypeAlias = Literal["chat", "api", "import"]
LimitScope: TypeAlias = Literal["everyone", "group", "user", "key", "address"]
MemoryOrigin: TypeAlias = Literal["asked", "written", "suggested"]
"""In a chat, on the page of memories, or accepted from what a model noticed."""
TurnState: TypeAlias = Literal["running"] | Ending


class User(msgspec.Struct, frozen=True):
    id: str
    name: str
    role: AccountRole


class PersonLine(msgspec.Struct, frozen=True):
    """A person as the list of people shows them."""

    id: str
    name: str
    role: AccountRole
    created_at: float
    is_disabled: bool
    last_seen_at: float | None
    num_conversations: int
    group_id: str | None


class Session(msgspec.Struct, frozen=True):
    """A signed-in browser. Its token is not here: only the browser has it."""

    id: str
    user_id: str
    user_agent: str
    created_at: float
    last_seen_at: float
    rotated_at: float
    expires_at: float


class ApiKey(msgspec.Struct, frozen=True):
    id: str
    user_id: str
    prefix: str
    label: str
    created_at: float
    last_used_at: float | None


class Invite(msgspec.Struct, frozen=True):
    id: str
    role: AccountRole
    created_by: str
    created_at: float
    expires_at: float
    used_by: str | None
    """The name of whoever came in by it."""


class ConversationLine(msgspec.Struct, frozen=True):
    """A conversation as the list shows it."""

    id: str
    title: str
    created_at: float
    updated_at: float
    is_archived: bool
    is_pinned: bool
    folder_id: str | None
    found: "Found | None" = None
    """Where a search found it. None where only its title has the words."""


class Found(msgspec.Struct, frozen=True):
    message_id: str
    snippet: str
    """The match stands between U+0002 and U+0003."""


class Page(msgspec.Struct, frozen=True):
    items: tuple[ConversationLine, ...]
    total: int


class StoredMessage(Said, frozen=True, kw_only=True):
    turn_id: str
    model: str | None
    """Who answered. None for what a person said."""
    created_at: float
    is_imported: bool = False
    """It was said elsewhere: its turn has no events to look at."""
    feedback: Feedback | None = None


class Reach(msgspec.Struct, frozen=True):
    """How far back a path is read: to `since`, or else to where this model was last shown whole
    messages from; and no further than it takes to have `num_chars`."""

    model: str
    num_chars: int
    since: str | None = None


class Exchange(msgspec.Struct, frozen=True):
    """A question and its answer, or the beginnings of them."""

    message_id: str
    """The answer."""
    question: str
    answer: str


class Summary(msgspec.Struct, frozen=True):
    """Of a stretch of a conversation, from one message to another on a path through it."""

    id: str
    first_message_id: str
    last_message_id: str
    level: int
    """1 sums up messages, 2 sums up summaries of level 1, and so on."""
    text: str


class Running(msgspec.Struct, frozen=True):
    """An answer on its way."""

    turn_id: str
    answer_id: str


class Conversation(msgspec.Struct, frozen=True):
    """A conversation with its whole tree, siblings in the order they were said."""

    id: str
    title: str
    created_at: float
    updated_at: float
    current_node: str | None
    is_archived: bool
    is_pinned: bool
    folder_id: str | None
    is_temporary: bool
    """In no list, with no memory, and erased after a day."""
    messages: tuple[StoredMessage, ...]
    running: Running | None


class Folder(msgspec.Struct, frozen=True):
    id: str
    name: str
    num_conversations: int


class Share(msgspec.Struct, frozen=True):
    """A path of a conversation that anyone who knows its id may read."""

    id: str
    title: str
    conversation_id: str
    created_at: float


class Shared(msgspec.Struct, frozen=True):
    """What such a reader sees. It does not tell whose it is."""

    title: str
    created_at: float
    messages: tuple[StoredMessage, ...]


class NewTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn to be stored before it runs."""

    turn_id: str
    user_id: str
    conversation_id: str | None
    """None for an API call, which belongs to no conversation."""
    creates_conversation: bool = False
    title: str = ""
    """Of the conversation that is created."""
    is_temporary: bool = False
    """So is the conversation that is created."""
    action: Action
    model: str
    message_id: str | None = None
    """What the person says. None where nothing new is said."""
    parent_id: str | None = None
    """What the message follows; without one, what is answered again."""
    parts: tuple[Part, ...] = ()
    answer_id: str
    given: tuple[Message, ...] = ()
    """What an API call brought along."""
    prompts: tuple[UsedPrompt, ...] = ()
    """Ours that it is asked with."""
    key_id: str | None = None
    """The API key it came with."""
    address: str | None = None
    """Where it came from."""
    num_prompt_tokens: int = 0
    num_answer_tokens: int = 0
    """The most it asks for."""
    num_beams: int = 1
    """How many answers are followed at once, to choose one: each takes as much."""
    created_at: float
    key: str | None = None
    """What the sender calls it by. The same key is never accepted twice within a day."""
    fingerprint: str = ""
    """Of what is asked for under that key."""


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


class Entry(msgspec.Struct, frozen=True):
    """One line of a turn's log."""

    turn_id: str
    stamped: Stamped


class Closing(msgspec.Struct, frozen=True):
    """The end of a turn, with everything its events amount to."""

    turn_id: str
    transcript: Transcript
    finished_at: float


class Profile(msgspec.Struct, frozen=True):
    """What a person tells every conversation of theirs, and what may be remembered of them."""

    call_me: str = ""
    about_me: str = ""
    style: str = ""
    """How answers should be."""
    is_on: bool = True
    uses_memory: bool = True
    suggests_memories: bool = False


class Memory(msgspec.Struct, frozen=True):
    """Something a person wants remembered, in their own words."""

    id: str
    text: str
    origin: MemoryOrigin
    conversation_id: str | None
    """Where it was asked for, while that is there."""
    is_suggested: bool
    """Not accepted yet: used by nothing."""
    created_at: float
    updated_at: float


class MemoryPage(msgspec.Struct, frozen=True):
    items: tuple[Memory, ...]
    total: int
