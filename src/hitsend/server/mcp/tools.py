"""The tools of the MCP server. What a key may see and call is up to its scopes; whose conversations
and memories these are is part of the store's queries."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from hitsend.errors import NotFound, Refused
from hitsend.memory.imperatives import remove_imperatives
from hitsend.server.mcp.ask import ask
from hitsend.server.mcp.tool import Arguments, McpTool, Result, ToolCall, mcp_tool
from hitsend.steps.remember import is_secret
from hitsend.store import Conversation, Memory, MessageRow, PastMessage
from hitsend.store.memories import MAX_CHARS, MAX_LISTED
from hitsend.tools.search_conversations import MAX_TEXT_CHARS, shorten_line
from hitsend.wire.send import UUID

MAX_QUERY_CHARS = 200
MAX_ITEMS = 50
MAX_FOUND = 200
MAX_READ_CHARS = 20_000
"""Of a conversation, in one call: a model has to read it."""

Id = Annotated[str, Meta(max_length=100)]
Query = Annotated[str, Meta(max_length=MAX_QUERY_CHARS)]
Limit = Annotated[int, Meta(ge=1, le=MAX_ITEMS)]
Speaker = Literal["user", "assistant"]


class Search(Arguments, frozen=True, kw_only=True):
    query: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=MAX_QUERY_CHARS,
            description="What it was about, in words or as a question.",
        ),
    ]
    limit: Limit = 10
    offset: Annotated[int, Meta(ge=0, le=MAX_FOUND, description="How many to skip.")] = 0


class FoundConversation(msgspec.Struct, frozen=True):
    conversation_id: str
    title: str
    said_at: str
    snippet: str
    """Of the message that fits best. Empty if only the title fits."""


class FoundConversations(Result, frozen=True, kw_only=True):
    conversations: tuple[FoundConversation, ...]
    has_more: bool

    def describe(self) -> str:
        if not self.conversations:
            return "No conversation is about that."
        lines = (
            f"- {one.title or 'Untitled'} ({one.said_at[:10]}, id {one.conversation_id})"
            + (f": {one.snippet}" if one.snippet else "")
            for one in self.conversations
        )
        more = ("(There are more: search again with `offset`.)",) if self.has_more else ()
        return "\n".join(("Found, best first:", *lines, *more))


@mcp_tool("read", title="Search conversations")
async def search_conversations(asked: ToolCall, given: Search) -> FoundConversations:
    """Search the person's conversations in hitsend by words and by meaning. Returns the best first,
    each with a snippet and its id for read_conversation."""
    call, end = asked.call, given.offset + given.limit
    found = await call.app.past.find(call.user_id, None, given.query, except_id="", limit=end + 1)
    shown = tuple(map(_found, found[given.offset : end]))
    return FoundConversations(conversations=shown, has_more=len(found) > end)


class Read(Arguments, frozen=True, kw_only=True):
    conversation_id: Id
    before: (
        Annotated[str, Meta(max_length=100, description="A message_id: read what came before it.")]
        | None
    ) = None


class ReadMessage(msgspec.Struct, frozen=True):
    message_id: str
    role: Speaker
    text: str


class ReadConversation(Result, frozen=True, kw_only=True):
    conversation_id: str
    title: str
    messages: tuple[ReadMessage, ...]
    has_earlier: bool
    """Read on with `before`, and the first message_id."""

    def describe(self) -> str:
        earlier: tuple[str, ...] = ()
        if self.has_earlier:
            earlier = (f'(There is more before this: before="{self.messages[0].message_id}".)',)
        texts = (f"{one.role}: {one.text}" for one in self.messages)
        return "\n\n".join((f"# {self.title or 'Untitled'}", *earlier, *texts))


@mcp_tool("read", title="Read a conversation")
async def read_conversation(asked: ToolCall, given: Read) -> ReadConversation:
    """Read the newest messages of one of the person's conversations, oldest first. Of a long
    conversation it returns the end; `before` reads on towards the beginning."""
    call = asked.call
    _check_id(given.conversation_id)
    conversation = await call.app.services.store.conversations.get(
        given.conversation_id, call.user_id
    )
    return await asyncio.to_thread(_read_end, conversation, given.before)


class NoArguments(Arguments, frozen=True, kw_only=True):
    pass


class ModelNames(Result, frozen=True, kw_only=True):
    models: tuple[str, ...]

    def describe(self) -> str:
        return "\n".join(self.models) or "There is no model."


@mcp_tool("chat", title="List models")
async def list_models(asked: ToolCall, given: NoArguments) -> ModelNames:
    """List the names of the models that `ask` can ask."""
    models = await asked.call.app.services.engine.models()
    return ModelNames(models=tuple(model.name for model in models))


class ListMemories(Arguments, frozen=True, kw_only=True):
    query: Annotated[Query, Meta(description="Words that all have to occur. Empty: all.")] = ""
    limit: Limit = MAX_ITEMS
    offset: Annotated[int, Meta(ge=0, le=MAX_LISTED, description="How many to skip.")] = 0


class ListedMemory(msgspec.Struct, frozen=True):
    memory_id: str
    text: str


class ListedMemories(Result, frozen=True, kw_only=True):
    memories: tuple[ListedMemory, ...]
    total: int
    num_hidden: int
    """Of these, how many are left out because they hold nothing but orders to a model."""

    def describe(self) -> str:
        lines = [f"- {one.text} (id {one.memory_id})" for one in self.memories]
        if self.num_hidden:
            lines.append(f"({self.num_hidden} more can be seen only on hitsend's page.)")
        return "\n".join(lines) or "There are no such memories."


@mcp_tool("memory", title="List memories")
async def list_memories(asked: ToolCall, given: ListMemories) -> ListedMemories:
    """List what the person asked hitsend to remember about them, newest first."""
    await _check_memory_is_on(asked)
    page = await asked.call.app.services.store.memories.list(
        asked.call.user_id, given.query, offset=given.offset, limit=given.limit, is_accepted=True
    )
    shown = await asyncio.to_thread(lambda: tuple(map(_listed, page.items)))
    memories = tuple(one for one in shown if one.text)
    return ListedMemories(
        memories=memories, total=page.total, num_hidden=len(shown) - len(memories)
    )


class AddMemory(Arguments, frozen=True, kw_only=True):
    text: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=MAX_CHARS,
            description="One fact in the person's own words, such as: I have two cats.",
        ),
    ]


class AddedMemory(Result, frozen=True, kw_only=True):
    memory_id: str
    text: str

    def describe(self) -> str:
        return f"Remembered: {self.text} (id {self.memory_id})"


@mcp_tool("memory", title="Add a memory", is_read_only=False)
async def add_memory(asked: ToolCall, given: AddMemory) -> AddedMemory:
    """Remember a fact about the person, which hitsend's models will know from then on. Only what
    the person asked to have remembered. The same text twice is one memory."""
    await _check_memory_is_on(asked)
    if is_secret(given.text):
        raise Refused("This looks like a password or a key. hitsend does not store those.")
    services, user_id = asked.call.app.services, asked.call.user_id
    memory = await services.store.memories.add(user_id, given.text, "asked")
    index = partial(services.recall.embed_memories, user_id)
    services.background.schedule(f"memories:{user_id}", index)
    return AddedMemory(memory_id=memory.id, text=memory.text)


class ForgetMemory(Arguments, frozen=True, kw_only=True):
    memory_id: Annotated[str, Meta(max_length=100, description="From list_memories.")]


class ForgottenMemory(Result, frozen=True, kw_only=True):
    memory_id: str

    def describe(self) -> str:
        return "Forgotten. On hitsend's page it can be brought back for ten minutes."


@mcp_tool("memory", title="Forget a memory", is_read_only=False, is_destructive=True)
async def forget_memory(asked: ToolCall, given: ForgetMemory) -> ForgottenMemory:
    """Forget one memory. Only if the person asked for it."""
    await _check_memory_is_on(asked)
    _check_id(given.memory_id)
    await asked.call.app.services.store.memories.remove(given.memory_id, asked.call.user_id)
    return ForgottenMemory(memory_id=given.memory_id)


TOOLS: tuple[McpTool, ...] = (
    search_conversations,
    read_conversation,
    ask,
    list_models,
    list_memories,
    add_memory,
    forget_memory,
)


def _found(message: PastMessage) -> FoundConversation:
    snippet = shorten_line(message.text, MAX_TEXT_CHARS)
    return FoundConversation(message.conversation_id, message.title, _iso_time(message.at), snippet)


def _read_end(conversation: Conversation, before: str | None) -> ReadConversation:
    by_id = {message.message_id: message for message in conversation.messages}
    start = conversation.current_node
    if before is not None:
        if before not in by_id:
            raise NotFound("There is no such message in this conversation.", param="before")
        start = by_id[before].parent_id
    taken: list[ReadMessage] = []
    num_chars, has_earlier = 0, False
    for message in _walk_up(by_id, start):
        if taken and num_chars + len(message.text) > MAX_READ_CHARS:
            has_earlier = True
            break
        taken.append(_shorten(message))
        num_chars += len(message.text)
    return ReadConversation(
        conversation_id=conversation.id,
        title=conversation.title,
        messages=tuple(reversed(taken)),
        has_earlier=has_earlier,
    )


def _walk_up(by_id: dict[str, MessageRow], start: str | None) -> Iterator[MessageRow]:
    """Yields what was said, from this message towards the first."""
    while start is not None and (message := by_id.get(start)) is not None:
        if message.role in ("user", "assistant") and message.text:
            yield message
        start = message.parent_id


def _shorten(message: MessageRow) -> ReadMessage:
    text = message.text
    if len(text) > MAX_READ_CHARS:
        text = f"{text[:MAX_READ_CHARS]}… (cut: {len(text) - MAX_READ_CHARS:,} characters more)"
    return ReadMessage(message.message_id, "user" if message.role == "user" else "assistant", text)


def _listed(memory: Memory) -> ListedMemory:
    return ListedMemory(memory.id, remove_imperatives(memory.text))


async def _check_memory_is_on(asked: ToolCall) -> None:
    profile = await asked.call.app.services.store.profiles.get(asked.call.user_id)
    if not profile.uses_memory:
        raise Refused("The person has turned memory off in hitsend's settings.")


def _check_id(given: str) -> None:
    if not UUID.fullmatch(given):
        raise Refused(f"{given[:100]!r} is no id. Copy an id as it was returned.")


def _iso_time(unix_s: float) -> str:
    return datetime.fromtimestamp(unix_s, UTC).isoformat(timespec="seconds")
