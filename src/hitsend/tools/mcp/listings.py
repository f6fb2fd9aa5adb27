"""Listings of a server: read page by page, and kept while the server tells of their changes."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Generic, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

import mcp_types as types
from mcp import Client, MCPError
from mcp.shared.subscriptions import PromptsListChanged, ResourcesListChanged, ToolsListChanged
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

T = TypeVar("T")


class Paged(Protocol):
    @property
    def next_cursor(self) -> str | None: ...


Page = TypeVar("Page", bound=Paged)
log = logging.getLogger(__name__)

MAX_PAGES = 20

Listed: TypeAlias = Literal["tools", "resources", "prompts"]


CHANGES: dict[type, Listed] = {
    types.ToolListChangedNotification: "tools",
    types.ResourceListChangedNotification: "resources",
    types.PromptListChangedNotification: "prompts",
    ToolsListChanged: "tools",
    ResourcesListChanged: "resources",
    PromptsListChanged: "prompts",
}


class Offers(NamedTuple):
    """What a server says it has besides tools."""

    resources: bool
    prompts: bool


class KeptListing(Generic[T]):
    def __init__(self) -> None:
        self._items: Sequence[T] | None = None
        self._num_drops = 0

    def drop(self) -> None:
        self._items = None
        self._num_drops += 1

    async def read(
        self, fetch: Callable[[], Awaitable[Sequence[T]]], *, is_followed: bool
    ) -> Sequence[T]:
        """Asks the server, unless it would have told of a change."""
        if self._items is not None and is_followed:
            return self._items
        num_drops = self._num_drops
        items = await fetch()
        if num_drops == self._num_drops:  # else it changed meanwhile
            self._items = items
        return items


class ListChanges:
    """Passes on which listings a server says have changed."""

    def __init__(self, on_change: Callable[[Listed], None]) -> None:
        self._on_change = on_change
        self.followed: frozenset[Listed] = frozenset()
        """Those whose changes the server tells of."""

    def take(self, message: object) -> None:
        if listed := CHANGES.get(type(message)):
            self._on_change(listed)

    @asynccontextmanager
    async def follow(self, client: Client) -> AsyncGenerator[None]:
        """Since 2026-07-28, changes are told only to those who listen."""
        told = _told_lists(client.server_capabilities)
        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            self.followed = told
            yield
            return
        task = asyncio.create_task(self._listen(client, told))
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def _listen(self, client: Client, told: frozenset[Listed]) -> None:
        if not told:
            return
        try:
            async with client.listen(
                tools_list_changed="tools" in told,
                resources_list_changed="resources" in told,
                prompts_list_changed="prompts" in told,
            ) as changes:
                self.followed = told
                async for change in changes:
                    self.take(change)
        except (MCPError, RuntimeError, TimeoutError, ValidationError) as error:
            log.debug("changes are not told any more: %s", error)
        finally:
            self.followed = frozenset()


def _told_lists(has: types.ServerCapabilities) -> frozenset[Listed]:
    by_name: dict[Listed, bool | None] = {
        "tools": has.tools.list_changed if has.tools else False,
        "resources": has.resources.list_changed if has.resources else False,
        "prompts": has.prompts.list_changed if has.prompts else False,
    }
    return frozenset(name for name, is_told in by_name.items() if is_told)


async def list_all(
    read_page: Callable[..., Awaitable[Page]],
    items: Callable[[Page], Sequence[T]],
    max_items: int,
) -> Sequence[T]:
    found: list[T] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await read_page(cursor=cursor)
        found += items(page)
        cursor = page.next_cursor
        if cursor is None or len(found) >= max_items:
            break
    return found[:max_items]
