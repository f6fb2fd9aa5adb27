"""The hosted tools there are, by the features that people turn on.

Which of them there are for whom is decided here, for lists and for answers alike.
"""

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


class MissingFeature(msgspec.Struct, frozen=True):
    """A feature that is not set up."""

    name: str
    settings: tuple[str, ...]
    """The settings with which an administrator sets it up."""


class ToolSource(Protocol):
    """Where the tools of other servers come from."""

    async def tools(self, user_id: str) -> Sequence[HostedTool]:
        """Returns those that the person may use, at once: a server that is slow has none yet."""


class FeatureAccess(Protocol):
    """Which features an administrator lets people have."""

    async def filter_features(self, user_id: str, features: Collection[str]) -> Collection[str]: ...


class Toolbox:
    def __init__(
        self,
        own: Iterable[HostedTool] = (),
        sources: Sequence[ToolSource] = (),
        access: FeatureAccess | None = None,
    ) -> None:
        """Without `access` everybody may have all features."""
        self._own = tuple(own)
        self._own_features = frozenset(tool.feature for tool in self._own)
        self._sources = tuple(sources)
        self._access = access

    async def features(self, user_id: str) -> Sequence[Feature]:
        """Returns the features that the person may turn on, in a stable order."""
        return _group(await self._filter(user_id, await self._all(user_id)))

    async def all_features(self, user_id: str) -> Sequence[Feature]:
        """Returns those that there are for anyone, as an administrator sees them."""
        return _group(await self._all(user_id))

    async def is_allowed(self, user_id: str, feature: str) -> bool:
        return self._access is None or feature in await self._access.filter_features(
            user_id, [feature]
        )

    async def pick(self, user_id: str, features: Collection[str]) -> Sequence[HostedTool]:
        """Returns the tools of these features, always in the same order: the engine's KV cache
        holds their descriptions."""
        is_own = self._own_features.issuperset(features)
        found = self._own if is_own else await self._all(user_id)
        return await self._filter(user_id, [tool for tool in found if tool.feature in features])

    async def _filter(self, user_id: str, tools: Sequence[HostedTool]) -> Sequence[HostedTool]:
        """Returns those that an administrator lets the person have."""
        if self._access is None or not tools:
            return tools
        allowed = await self._access.filter_features(user_id, {tool.feature for tool in tools})
        return [tool for tool in tools if tool.feature in allowed]

    async def _all(self, user_id: str) -> Sequence[HostedTool]:
        found = list(self._own)
        for source in self._sources:
            found += await source.tools(user_id)
        return found


def _group(tools: Iterable[HostedTool]) -> Sequence[Feature]:
    by_name: dict[str, list[HostedTool]] = {}
    for tool in tools:
        by_name.setdefault(tool.feature, []).append(tool)
    return [_describe(name, of_feature) for name, of_feature in by_name.items()]


def _describe(name: str, tools: Sequence[HostedTool]) -> Feature:
    described = (FeatureTool(one.name, one.spec.description, one.effect) for one in tools)
    return Feature(name, tools[0].server, tuple(described))
