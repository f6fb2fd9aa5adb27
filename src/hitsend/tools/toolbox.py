"""The hosted tools there are, by the features that people turn on."""

from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

import msgspec

from hitsend.tools.hosted_tool import Effect, HostedTool


class Feature(msgspec.Struct, frozen=True):
    """What a person can turn on for a message."""

    name: str
    title: str
    """For an MCP server the name it has in the settings. Empty for our own: the page has words."""
    tools: tuple["FeatureTool", ...]


class FeatureTool(msgspec.Struct, frozen=True):
    name: str
    description: str
    effect: Effect


class ToolSource(Protocol):
    """Where the tools of other servers come from."""

    async def tools(self, user_id: str) -> Sequence[HostedTool]:
        """Returns those that the person may use, at once: a server that is slow has none yet."""


class Toolbox:
    def __init__(self, own: Iterable[HostedTool] = (), sources: Sequence[ToolSource] = ()) -> None:
        self._own = tuple(own)
        self._sources = tuple(sources)

    async def features(self, user_id: str) -> Sequence[Feature]:
        """Returns the features that the person may turn on, in a stable order."""
        by_name: dict[str, list[HostedTool]] = {}
        for tool in await self._all(user_id):
            by_name.setdefault(tool.feature, []).append(tool)
        return [_describe(name, tools) for name, tools in by_name.items()]

    async def pick(self, user_id: str, features: Collection[str]) -> Sequence[HostedTool]:
        """Returns the tools of these features, always in the same order: the engine's KV cache
        holds their descriptions."""
        if not features:
            return ()
        return [tool for tool in await self._all(user_id) if tool.feature in features]

    async def _all(self, user_id: str) -> Sequence[HostedTool]:
        found = list(self._own)
        for source in self._sources:
            found += await source.tools(user_id)
        return found


def _describe(name: str, tools: Sequence[HostedTool]) -> Feature:
    described = (FeatureTool(one.name, one.spec.description, one.effect) for one in tools)
    return Feature(name, tools[0].server, tuple(described))
