"""Rows of MCP servers as values. They know no SQL."""

from typing import Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

ServerKind: TypeAlias = Literal["command", "http"]
Audience: TypeAlias = Literal["owner", "everyone", "groups"]
CallOutcome: TypeAlias = Literal["ok", "failed", "unreachable", "timeout", "stopped"]


class McpServer(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    owner_id: str | None
    audience: Audience
    title: str
    prefix: str
    kind: ServerKind
    command: tuple[str, ...]
    url: str
    sealed: bytes | None
    is_on: bool
    timeout_s: float
    created_at: float
    listed_at: float | None
    group_ids: tuple[str, ...] = ()


class NewMcpServer(msgspec.Struct, frozen=True, kw_only=True):
    """`id` is chosen first: what is sealed is bound to it."""

    id: str
    owner_id: str | None
    audience: Audience
    title: str
    prefix: str
    """As wished. A number is added if a server that somebody sees beside it has the same."""
    kind: ServerKind
    command: tuple[str, ...] = ()
    url: str = ""
    sealed: bytes | None = None
    timeout_s: float = 60.0
    group_ids: tuple[str, ...] = ()


class McpServerChange(msgspec.Struct, frozen=True, kw_only=True):
    """Fields that are left out stay."""

    title: str | UnsetType = UNSET
    command: tuple[str, ...] | UnsetType = UNSET
    url: str | UnsetType = UNSET
    sealed: bytes | None | UnsetType = UNSET
    is_on: bool | UnsetType = UNSET
    timeout_s: float | UnsetType = UNSET
    audience: Audience | UnsetType = UNSET
    group_ids: tuple[str, ...] | UnsetType = UNSET


class ToolDraft(msgspec.Struct, frozen=True, kw_only=True):
    """What a server says of a tool now."""

    title: str = ""
    description: str = ""
    schema: str = "{}"
    digest: str = ""
    problem: str = ""
    is_read_only_hint: bool = False


class McpTool(msgspec.Struct, frozen=True, kw_only=True):
    server_id: str
    name: str
    title: str
    description: str
    schema: str
    digest: str
    problem: str
    is_on: bool
    is_missing: bool
    is_new: bool
    is_read_only: bool
    is_read_only_hint: bool
    draft: ToolDraft | None

    @property
    def is_usable(self) -> bool:
        return self.is_on and not (self.is_missing or self.problem or self.draft)


class McpCall(msgspec.Struct, frozen=True):
    tool: str
    user: str
    """The name of the person."""
    at: float
    took_ms: float
    outcome: CallOutcome
    num_chars: int


class SignInState(msgspec.Struct, frozen=True):
    server_id: str
    sealed: bytes
