"""What people and models say. Pure values: no clocks, no storage, no I/O."""

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType

Role: TypeAlias = Literal["system", "developer", "user", "assistant", "tool"]

Source: TypeAlias = Literal[
    "template",
    "system",
    "developer",
    "memory",
    "summary",
    "file",
    "tool",
    "history",
    "user",
    "answer",
]
"""Where a piece of the prompt came from. `template` is the model's own scaffolding, `answer` the
beginning of the answer that is continued."""


class Text(msgspec.Struct, frozen=True, tag="text", tag_field="kind"):
    text: str


class ToolCall(msgspec.Struct, frozen=True, tag="tool_call", tag_field="kind"):
    call_id: str
    tool: str
    arguments: str
    """JSON, exactly as the model wrote it."""


class ToolResult(msgspec.Struct, frozen=True, tag="tool_result", tag_field="kind"):
    call_id: str
    output: str
    failed: bool = False


Part: TypeAlias = Text | ToolCall | ToolResult


class Message(msgspec.Struct, frozen=True):
    role: Role
    parts: tuple[Part, ...]
    source: Source = "history"

    @property
    def text(self) -> str:
        """What a person would read of it."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))


class Begun(Message, frozen=True):
    """An answer that was cut short and is to be continued."""

    token_ids: tuple[int, ...] = ()
    """The very tokens it was written in, where the same model goes on and all are known."""


class Tool(msgspec.Struct, frozen=True):
    """A function the model may ask for. `parameters` is its JSON Schema, as JSON."""

    name: str
    description: str
    parameters: str


StopString: TypeAlias = Annotated[str, Meta(min_length=1, max_length=256)]
Bias: TypeAlias = tuple[Annotated[int, Meta(ge=0)], Annotated[float, Meta(ge=-100, le=100)]]
"""A token id, and how much likelier (or less) it is made."""


class Sampling(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the next token is chosen. Out of range is refused, never clamped in silence.

    The engine fills in what is None with the model's own default.
    """

    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, Meta(gt=0, le=1)] | None = None
    top_k: Annotated[int, Meta(ge=0, le=1000)] | None = None
    min_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    presence_penalty: Annotated[float, Meta(ge=-2, le=2)] | None = None
    frequency_penalty: Annotated[float, Meta(ge=-2, le=2)] | None = None
    repeat_penalty: Annotated[float, Meta(ge=0.1, le=10)] | None = None
    seed: Annotated[int, Meta(ge=0, le=2**32 - 2)] | None = None
    max_tokens: Annotated[int, Meta(ge=1, le=1_048_576)] | None = None
    stop: Annotated[tuple[StopString, ...], Meta(max_length=4)] = ()
    logit_bias: Annotated[tuple[Bias, ...], Meta(max_length=300)] = ()
    top_logprobs: Annotated[int, Meta(ge=0, le=20)] = 0
    """How many alternatives to record for each token."""
    json_schema: str | None = None
    """JSON Schema, as JSON, that the answer is made to follow."""


UNTOLD = -1
"""The id of a token where the engine does not tell."""


class Token(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One token the model chose. `token_id` may be UNTOLD."""

    token_id: int
    text: str
    """The characters this token completed: empty while a character is still in pieces."""
    logprob: float | None
    at_ms: float
    """When it arrived, counted from the moment the engine was asked."""
    top: tuple["Alternative", ...] = ()


class Alternative(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A token the model might have chosen instead."""

    token_id: int
    text: str
    logprob: float


class Usage(msgspec.Struct, frozen=True):
    """What a turn cost, in tokens and milliseconds, as the engine counted it."""

    num_input_tokens: int = 0
    num_cached_tokens: int = 0
    num_output_tokens: int = 0
    queued_ms: float = 0.0
    prefill_ms: float = 0.0
    decode_ms: float = 0.0
    is_estimated: bool = False
    first_word_ms: float | UnsetType = UNSET
    """From Send to the first word. Not there while nothing was said, and in older records."""


Rating: TypeAlias = Literal["up", "down"]
Reason: TypeAlias = Literal["wrong", "not_helpful", "unsafe", "style", "other"]


class Feedback(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a person thinks of an answer."""

    rating: Rating
    reason: Reason | None = None
    text: Annotated[str, Meta(max_length=2000)] = ""
