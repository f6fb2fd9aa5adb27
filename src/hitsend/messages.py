"""What people and models say. Pure values: no clocks, no storage, no I/O."""

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import asdict

Role: TypeAlias = Literal["system", "developer", "user", "assistant", "tool"]

Source: TypeAlias = Literal[
    "template",
    "system",
    "developer",
    "profile",
    "memory",
    "summary",
    "recalled",
    "file",
    "tool",
    "history",
    "user",
    "answer",
]
"""Where a piece of the prompt came from. `template` is the model's own scaffolding, `answer` the
beginning of the answer that is continued, `recalled` an older part of the conversation that is
shown again because it is about the question."""


class Text(msgspec.Struct, frozen=True, tag="text", tag_field="kind"):
    text: str
    source: Source | UnsetType = UNSET
    """Where it came from, if not from where its message did: a note in front of a question."""


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

    @property
    def own_text(self) -> str:
        """The same, without notes that were put in front of it."""
        texts = (part for part in self.parts if isinstance(part, Text))
        return "".join(part.text for part in texts if part.source is UNSET)


def source_of(part: Part, message: Message) -> Source:
    """Where a part of the message came from."""
    if isinstance(part, Text) and part.source is not UNSET:
        return part.source
    return message.source


class Begun(Message, frozen=True):
    """An answer that was cut short and is to be continued."""

    token_ids: tuple[int, ...] = ()
    """The very tokens it was written in, where the same model goes on and all are known."""


MemoryChange: TypeAlias = Literal["added", "removed", "suggested"]


class ChangedMemory(msgspec.Struct, frozen=True):
    """A memory that came or went in a turn. What it says is the memory's alone: who deletes it
    finds it nowhere else."""

    memory_id: str
    change: MemoryChange


class UsedPrompt(msgspec.Struct, frozen=True):
    """A prompt of ours that a turn was asked with."""

    name: str
    version: int
    experiment_id: str | UnsetType = UNSET
    """The comparison of versions it was chosen by, if any."""


class Seen(msgspec.Struct, frozen=True):
    """What the model saw before it answered, besides the newest messages: by name only."""

    starts_at: str | None = None
    """The first message of the conversation that was shown whole. None: all were."""
    memories: tuple[str, ...] = ()
    recalled: tuple[str, ...] = ()
    """Older answers that were shown again, each with its question."""
    summaries: tuple[str, ...] = ()
    num_dropped_messages: int = 0
    """In no summary either, and not recalled."""
    prompts: tuple[UsedPrompt, ...] = ()
    changed: tuple[ChangedMemory, ...] = ()


class Tool(msgspec.Struct, frozen=True):
    """A function the model may ask for. `parameters` is its JSON Schema, as JSON."""

    name: str
    description: str
    parameters: str


StopString: TypeAlias = Annotated[str, Meta(min_length=1, max_length=256)]
Bias: TypeAlias = tuple[Annotated[int, Meta(ge=0)], Annotated[float, Meta(ge=-100, le=100)]]
"""A token id, and how much likelier (or less) it is made."""


Policy: TypeAlias = Literal["sample", "greedy", "beam"]
"""How an answer is looked for: by chance among the likely tokens, always the likeliest token, or
the likeliest of several answers followed side by side."""

NUM_BEAMS = 4
"""How many answers a beam search follows, if not said."""
MAX_BEAM_TOKENS = 512
"""Every token of a beam search is weighed once for each beam."""
UNBIASED = ("presence_penalty", "frequency_penalty", "logit_bias", "json_schema")
"""Left out of a beam search, which weighs what the model itself would say."""


class Sampling(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the next token is chosen. Out of range is refused, never clamped in silence; so is what
    contradicts its policy.

    None is what nobody said. Whoever has a default fills it in; what is still None at the engine is
    the model's own.
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
    stop: Annotated[tuple[StopString, ...], Meta(max_length=4)] | None = None
    logit_bias: Annotated[tuple[Bias, ...], Meta(max_length=300)] | None = None
    top_logprobs: Annotated[int, Meta(ge=0, le=20)] | None = None
    """How many alternatives to record for each token."""
    json_schema: str | None = None
    """JSON Schema, as JSON, that the answer is made to follow. One object and nothing after it:
    engines are sent it as it is."""
    policy: Policy | None = None
    num_beams: Annotated[int, Meta(ge=2, le=8)] | None = None
    """How many answers a beam search follows."""

    @property
    def said(self) -> dict[str, object]:
        return {name: value for name, value in asdict(self).items() if value is not None}

    @property
    def num_followed(self) -> int:
        """How many answers are looked into side by side."""
        return (self.num_beams or NUM_BEAMS) if self.policy == "beam" else 1

    def __post_init__(self) -> None:
        if self.json_schema is not None and not _is_object(self.json_schema):
            raise ValueError("`json_schema` has to be one JSON object")
        if self.policy in ("greedy", "beam") and self.temperature:
            raise ValueError(f"`{self.policy}` leaves nothing to chance: leave out `temperature`")
        if self.policy == "beam":
            self._check_beam()

    def _check_beam(self) -> None:
        biased = [name for name in UNBIASED if getattr(self, name)]
        if self.repeat_penalty not in (None, 1.0):
            biased.append("repeat_penalty")
        if biased:
            raise ValueError(f"`beam` weighs what the model would say: leave out `{biased[0]}`")
        if self.max_tokens is not None and self.max_tokens > MAX_BEAM_TOKENS:
            raise ValueError(f"`beam` takes `max_tokens` of at most {MAX_BEAM_TOKENS}")


def _is_object(text: str) -> bool:
    try:
        msgspec.json.decode(text, type=dict[str, object])
    except (ValueError, RecursionError):
        return False
    return True


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
    entropy: float | UnsetType = UNSET
    """How open the choice of a token was on average, in bits. At least: what was not recorded of a
    distribution counts as one token. Not there where no alternatives were recorded."""
    surprisal: float | UnsetType = UNSET
    """How unlikely the chosen tokens were on average, in bits, where that is known."""
    is_truncated: bool = False
    """The answer ended for lack of room."""
    num_searched_tokens: int | UnsetType = UNSET
    """Tokens evaluated for all hypotheses of a beam search, of which the answer is one."""


Rating: TypeAlias = Literal["up", "down"]
Reason: TypeAlias = Literal["wrong", "not_helpful", "unsafe", "style", "other"]


class Feedback(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a person thinks of an answer."""

    rating: Rating
    reason: Reason | None = None
    text: Annotated[str, Meta(max_length=2000)] = ""
