"""JSON-RPC 2.0, as MCP uses it over HTTP: one message per request, and errors as a value."""

from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType

from hitsend.errors import HitsendError, Refused
from hitsend.wire.body import decode_body, validation_refusal
from hitsend.wire.problem import describe_error

PARSE_ERROR, INVALID_REQUEST, INTERNAL_ERROR = -32700, -32600, -32603
REQUEST_CANCELLED = -32800
"""Of the Language Server Protocol: JSON-RPC and MCP have no code of their own for it."""

RequestId: TypeAlias = (
    Annotated[str, Meta(max_length=1_000)] | Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
)


class RpcMessage(msgspec.Struct, frozen=True):
    """A request, or without an id a notification."""

    jsonrpc: Literal["2.0"]
    method: Annotated[str, Meta(min_length=1, max_length=200)]
    id: RequestId | UnsetType = UNSET
    params: dict[str, Any] = {}


class RpcError(msgspec.Struct, frozen=True, omit_defaults=True):
    code: int
    message: str
    data: object = None


class RpcFailure(msgspec.Struct, frozen=True):
    error: RpcError
    id: RequestId | None = None
    jsonrpc: Literal["2.0"] = "2.0"


def decode_message(body: bytes) -> RpcMessage | RpcFailure:
    try:
        given = decode_body(body, object)
    except Refused as error:
        return RpcFailure(RpcError(PARSE_ERROR, error.message))
    if isinstance(given, list):
        return _refuse("Send one message per request: batches are not supported.")
    try:
        return msgspec.convert(given, RpcMessage)
    except msgspec.ValidationError as error:
        return _refuse(f"This is no JSON-RPC request. {validation_refusal(error).message}")


def describe_failure(error: HitsendError) -> RpcFailure:
    """The problem is in `data`, in the words of every other route."""
    code = INVALID_REQUEST if isinstance(error, Refused) else INTERNAL_ERROR
    return RpcFailure(RpcError(code, error.message, describe_error(error)))


def _refuse(message: str) -> RpcFailure:
    return RpcFailure(RpcError(INVALID_REQUEST, message))
