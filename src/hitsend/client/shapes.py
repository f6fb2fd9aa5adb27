"""What the server answers, as values. Fields this client has no use for are left out."""

from typing import Literal

import msgspec

from hitsend.events import Ending
from hitsend.messages import Usage


class User(msgspec.Struct, frozen=True):
    id: str
    name: str
    role: Literal["admin", "member"]


class Me(msgspec.Struct, frozen=True):
    user: User


class Model(msgspec.Struct, frozen=True):
    name: str
    title: str
    num_window_tokens: int
    where: Literal["here", "remote"]
    is_default: bool = False


class ModelList(msgspec.Struct, frozen=True):
    models: tuple[Model, ...]
    default_model: str | None


class ConversationLine(msgspec.Struct, frozen=True):
    """A conversation as a list shows it."""

    id: str
    title: str
    create_time: float
    update_time: float
    is_archived: bool = False
    snippet: str | None = None
    """Where the words that were searched for stand, each between U+0002 and U+0003."""


class ConversationPage(msgspec.Struct, frozen=True):
    items: tuple[ConversationLine, ...]
    total: int
    limit: int
    offset: int


class Author(msgspec.Struct, frozen=True):
    role: str


class Content(msgspec.Struct, frozen=True):
    parts: tuple[str, ...]


class FinishDetails(msgspec.Struct, frozen=True):
    reason: Ending
    message: str | None = None
    """Why it failed, as the person was told."""


class Metadata(msgspec.Struct, frozen=True):
    turn_exchange_id: str = ""
    """Empty for what was imported: it has no turn."""
    parent_id: str | None = None
    model_slug: str | None = None
    usage: Usage | None = None
    finish_details: FinishDetails | None = None
    """None for what is being written, and for what people say."""
    is_visually_hidden_from_conversation: bool = False
    """A part of the prompt, which nobody said."""


class Message(msgspec.Struct, frozen=True):
    """What somebody said. `status` is as the server says it."""

    id: str
    author: Author
    content: Content
    status: str
    metadata: Metadata

    @property
    def text(self) -> str:
        return "".join(self.content.parts)


class Node(msgspec.Struct, frozen=True):
    """A message and its place in the conversation's tree."""

    id: str
    parent: str | None
    children: tuple[str, ...]
    message: Message | None


class Running(msgspec.Struct, frozen=True):
    """The turn that is being answered now."""

    turn_exchange_id: str
    message_id: str


class Conversation(msgspec.Struct, frozen=True):
    conversation_id: str
    title: str
    current_node: str | None
    mapping: dict[str, Node]
    running: Running | None = None

    def path(self) -> list[Message]:
        """The branch that is shown, first message first."""
        found: list[Message] = []
        at = self.current_node
        while at is not None and (node := self.mapping.get(at)) is not None:
            if node.message is not None:
                found.append(node.message)
            at = node.parent
        return found[::-1]
