"""OpenAI's response objects, as far as hitsend fills them. Shapes only."""

from typing import Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

FinishReason: TypeAlias = Literal["stop", "length", "tool_calls", "content_filter"]


class TopLogprob(msgspec.Struct, frozen=True):
    token: str
    logprob: float
    bytes: tuple[int, ...]


class TokenLogprob(msgspec.Struct, frozen=True):
    token: str
    logprob: float
    bytes: tuple[int, ...]
    top_logprobs: tuple[TopLogprob, ...]


class Logprobs(msgspec.Struct, frozen=True):
    content: tuple[TokenLogprob, ...]
    refusal: None = None


class Function(msgspec.Struct, frozen=True):
    name: str
    arguments: str


class FunctionCall(msgspec.Struct, frozen=True):
    id: str
    function: Function
    type: Literal["function"] = "function"


class FunctionPiece(msgspec.Struct, frozen=True):
    arguments: str
    name: str | UnsetType = UNSET


class FunctionCallPiece(msgspec.Struct, frozen=True):
    """Part of a call. Only the first has an id, a type and a name."""

    index: int
    function: FunctionPiece
    id: str | UnsetType = UNSET
    type: Literal["function"] | UnsetType = UNSET


class Delta(msgspec.Struct, frozen=True):
    role: Literal["assistant"] | UnsetType = UNSET
    content: str | UnsetType = UNSET
    reasoning_content: str | UnsetType = UNSET
    """What the model thought, as other servers name it."""
    tool_calls: tuple[FunctionCallPiece, ...] | UnsetType = UNSET


class ChunkChoice(msgspec.Struct, frozen=True):
    delta: Delta
    index: int = 0
    logprobs: Logprobs | None = None
    finish_reason: FinishReason | None = None


class AnswerMessage(msgspec.Struct, frozen=True):
    content: str | None
    tool_calls: tuple[FunctionCall, ...] | UnsetType = UNSET
    role: Literal["assistant"] = "assistant"
    refusal: None = None
    reasoning_content: str | UnsetType = UNSET


class Choice(msgspec.Struct, frozen=True):
    message: AnswerMessage
    finish_reason: FinishReason
    logprobs: Logprobs | None = None
    index: int = 0


class CachedTokens(msgspec.Struct, frozen=True):
    cached_tokens: int


class ReasoningTokens(msgspec.Struct, frozen=True):
    reasoning_tokens: int = 0


class CompletionUsage(msgspec.Struct, frozen=True):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: CachedTokens
    completion_tokens_details: ReasoningTokens = ReasoningTokens()


class Chunk(msgspec.Struct, frozen=True):
    id: str
    created: int
    model: str
    choices: tuple[ChunkChoice, ...]
    usage: CompletionUsage | None | UnsetType = UNSET
    object: Literal["chat.completion.chunk"] = "chat.completion.chunk"


class Completion(msgspec.Struct, frozen=True):
    id: str
    created: int
    model: str
    choices: tuple[Choice, ...]
    usage: CompletionUsage
    object: Literal["chat.completion"] = "chat.completion"


class Model(msgspec.Struct, frozen=True):
    id: str
    created: int
    object: Literal["model"] = "model"
    owned_by: str = "hitsend"


class ModelList(msgspec.Struct, frozen=True):
    data: tuple[Model, ...]
    object: Literal["list"] = "list"
