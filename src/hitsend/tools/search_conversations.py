"""The tool `search_conversations`: finds what the person and the model said before."""

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from typing import Annotated, Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from msgspec import Meta

from hitsend.messages import CitedSource
from hitsend.store import PastMessage
from hitsend.tools.citations import Citations
from hitsend.tools.hosted_tool import Call, CallResult, HostedTool, hosted_tool

MAX_TEXT_CHARS = 400
MAX_TITLE_CHARS = 120

Query = Annotated[str, Meta(min_length=1, max_length=300, description="What it was about.")]
Count = Annotated[int, Meta(ge=1, le=10, description="How many conversations.")]


class ConversationFinder(Protocol):
    async def find(
        self, user_id: str, key_id: str | None, question: str, *, except_id: str, limit: int
    ) -> Sequence[PastMessage]: ...


def build_search_conversations(finder: ConversationFinder, citations: Citations) -> HostedTool:
    # Untrusted, because conversations hold what pages, files and others wrote.
    @hosted_tool("conversations", is_untrusted=True)
    async def search_conversations(call: Call, *, query: Query, count: Count = 5) -> CallResult:
        """Searches the person's earlier conversations with you, by words and by meaning. Use it
        when they speak of something that was said before. Cite by number, such as [1].
        "Which book did you recommend to me?" query=book recommend
        Also: "What did we talk about last week?", "Find the chat about my garden"
        Also: "When did I tell you about my knee?"
        Also: "Look in our earlier conversations for my size"
        """
        found = await finder.find(
            call.user_id, call.key_id, query, except_id=call.conversation_id, limit=count
        )
        if not found:
            return CallResult("No earlier conversation is about that.")
        return _write_found(found, call, citations)

    return search_conversations


def _write_found(found: Sequence[PastMessage], call: Call, citations: Citations) -> CallResult:
    zone = _read_zone(call.time_zone)
    results, sources = list[str](), list[CitedSource]()
    for one in found:
        title = shorten_line(one.title, MAX_TITLE_CHARS) or "Untitled"
        anchor = f"#message/{one.message_id}" if one.message_id else ""
        url = f"/c/{one.conversation_id}{anchor}"
        number = citations.number(call, url)
        day = datetime.fromtimestamp(one.at, zone).date().isoformat()
        lines = (f"[{number}] {title} ({day})", shorten_line(one.text, MAX_TEXT_CHARS))
        results.append("\n".join(filter(None, lines)))
        sources.append(CitedSource(title, url, number))
    return CallResult("\n\n".join(results), sources=tuple(sources))


def _read_zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


def shorten_line(text: str, max_chars: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= max_chars else line[: max_chars - 1].rstrip() + "…"
