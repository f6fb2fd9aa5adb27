"""Messages, tokens, usage and sampling. Pure values: no clocks, no storage, no I/O."""

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import asdict

from hitsend.safety.policy import Screening
from hitsend.safety.redaction import Redaction

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
    "tools",
    "tool",
    "history",
    "user",
    "answer",
]
"""Source of a part of the prompt. `template` is the model's chat template, `tools` the list of the
tools that can be called, `tool` the result of a call, `file` what the person attached to a
message, `answer` the beginning of the answer that is continued, `recalled` an older exchange that
is relevant to the question."""


class Text(msgspec.Struct, frozen=True, tag="text", tag_field="kind"):
    text: str
    source: Source | UnsetType = UNSET
    """Set if it differs from the message's source, as for a note in front of a question."""
    redactions: tuple[Redaction, ...] | UnsetType = UNSET
    """What stands behind the placeholders in the text. Only its owner may see it: no model, no
    reviewer and no reader of a shared conversation."""


class ToolCall(msgspec.Struct, frozen=True, tag="tool_call", tag_field="kind"):
    call_id: str
    tool: str
    arguments: str
    """A JSON object, as the model wrote it."""
    is_partial: bool | UnsetType = UNSET
    """Set while the model writes the arguments, and for good if they never become whole."""
    is_hosted: bool | UnsetType = UNSET
    """Set if hitsend runs the call; else the caller of the API does."""


ApprovalReason: TypeAlias = Literal["writes", "untrusted"]
"""Why a person is asked before a call runs: it changes or sends something, or it does so after
the model read text that strangers wrote, so that earlier permissions do not count."""

Verdict: TypeAlias = Literal["once", "conversation", "always", "refused"]
"""A person allows a call: this one, this and later ones in the conversation, or all of them. Or
the person refuses it."""
ApprovalDecision: TypeAlias = Verdict | Literal["expired"]
"""`expired`: nobody answered in time, and the turn ended. The call can still be decided, which
begins another turn."""


class Approval(msgspec.Struct, frozen=True):
    """A question to the person whether a call may run."""

    reason: ApprovalReason
    decision: ApprovalDecision | UnsetType = UNSET
    """Unset while the person has not decided."""
    word: str = ""
    """What the person said to a refused call, for the model."""


FormAction: TypeAlias = Literal["accept", "decline", "cancel"]


class Form(msgspec.Struct, frozen=True):
    """Something that a tool asks the person while it runs. Answers are not recorded."""

    form_id: str
    message: str
    schema: str
    """JSON Schema of a flat object, as JSON."""
    action: FormAction | UnsetType = UNSET
    """Unset while the person has not answered."""


class CitedSource(msgspec.Struct, frozen=True):
    """A page that the output of a tool comes from."""

    title: str
    url: str
    """Begins with `/` for a page of our own, such as a conversation."""
    number: int | UnsetType = UNSET
    """The answer cites it as `[1]`."""


class FileRef(msgspec.Struct, frozen=True):
    """A stored file that a tool made, such as a plot."""

    file_id: str
    name: str
    media_type: str
    num_bytes: int


class ToolResult(msgspec.Struct, frozen=True, tag="tool_result", tag_field="kind"):
    call_id: str
    output: str
    failed: bool = False
    tool: str | UnsetType = UNSET
    """This and what follows are unset in older records, and where they do not apply."""
    server: str | UnsetType = UNSET
    """The title of the MCP server that has the tool."""
    progress: str | UnsetType = UNSET
    """What the tool reported while it ran. Gone when it returns."""
    approval: Approval | UnsetType = UNSET
    form: Form | UnsetType = UNSET
    is_untrusted: bool | UnsetType = UNSET
    """Set if strangers wrote the output."""
    is_invalid: bool | UnsetType = UNSET
    """Set if the call could not be read, named no tool, or its arguments did not fit: nothing ran,
    and the output says why."""
    sources: tuple[CitedSource, ...] | UnsetType = UNSET
    files: tuple[FileRef, ...] | UnsetType = UNSET
    safety: Screening | UnsetType = UNSET
    """Set if the safety checks found something in what strangers wrote."""


class Attachment(msgspec.Struct, frozen=True, tag="attachment", tag_field="kind"):
    """A text that the person added to a message: a resource of an MCP server. Strangers wrote it.
    In a message it follows what the person wrote; the model reads it before that."""

    title: str
    server: str
    """The title of the server."""
    uri: str
    text: str


class Thought(msgspec.Struct, frozen=True, tag="thought", tag_field="kind"):
    """What the model thought before it answered, where a server tells it apart. For the person: no
    model reads it again, and no search finds it."""

    text: str
    took_ms: float | UnsetType = UNSET
    """Unset while the model thinks, and if nothing followed."""


Part: TypeAlias = Text | ToolCall | ToolResult | Attachment | Thought


def hide_values(part: Part) -> Part:
    """Returns the part for readers who may not see what its placeholders stand for."""
    return msgspec.structs.replace(part, redactions=UNSET) if isinstance(part, Text) else part


class Message(msgspec.Struct, frozen=True):
    role: Role
    parts: tuple[Part, ...]
    source: Source = "history"
    reasoning: str | UnsetType = UNSET
    """What the model thought before an answer, as the caller of the API gives it back."""

    @property
    def text(self) -> str:
        """The text parts, joined."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def own_text(self) -> str:
        """The text without notes in front of it."""
        texts = (part for part in self.parts if isinstance(part, Text))
        return "".join(part.text for part in texts if part.source is UNSET)


def part_source(part: Part, message: Message) -> Source:
    if isinstance(part, Text) and part.source is not UNSET:
        return part.source
    return "file" if isinstance(part, Attachment) else message.source


class PartialAnswer(Message, frozen=True):
    """An answer that was cut off and is to be continued."""

    token_ids: tuple[int, ...] = ()
    """Its tokens, if the same model continues and all of them are known."""


MemoryChange: TypeAlias = Literal["added", "removed", "suggested"]


class ChangedMemory(msgspec.Struct, frozen=True):
    """A memory added, removed or suggested in a turn. The text is stored only in the memory, so
    that deleting the memory deletes it everywhere."""

    memory_id: str
    change: MemoryChange


class UsedPrompt(msgspec.Struct, frozen=True):
    """A prompt of the library that a turn used."""

    name: str
    version: int
    experiment_id: str | UnsetType = UNSET
    """The experiment that chose the version, if any."""


class Seen(msgspec.Struct, frozen=True):
    """What the model saw besides the newest messages, by id."""

    starts_at: str | None = None
    """The first message of the conversation that was in the prompt. None: all were."""
    memories: tuple[str, ...] = ()
    recalled: tuple[str, ...] = ()
    """Older answers in the prompt, each with its question."""
    summaries: tuple[str, ...] = ()
    num_dropped_messages: int = 0
    """Messages that were not in the prompt, nor summarised or recalled."""
    prompts: tuple[UsedPrompt, ...] = ()
    changed: tuple[ChangedMemory, ...] = ()


class Tool(msgspec.Struct, frozen=True):
    """A function the model may call. `parameters` is its JSON Schema, as JSON."""

    name: str
    description: str
    parameters: str
    is_strict: bool | UnsetType = UNSET
    """Set if the arguments have to follow the schema."""


ReasoningEffort: TypeAlias = Literal["none", "minimal", "low", "medium", "high", "xhigh"]


class AnswerRules(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the caller of the API asks of an answer, besides sampling."""

    must_call: bool = False
    """The answer has to be a tool call."""
    has_parallel_calls: bool = True
    """False: at most one tool is called."""
    schema_name: str | None = None
    """Of the JSON Schema, and so are the next two: for servers that speak OpenAI's API."""
    schema_description: str | None = None
    is_schema_strict: bool | None = None
    reasoning_effort: ReasoningEffort | None = None


FREE = AnswerRules()


StopString: TypeAlias = Annotated[str, Meta(min_length=1, max_length=256)]
Bias: TypeAlias = tuple[Annotated[int, Meta(ge=0)], Annotated[float, Meta(ge=-100, le=100)]]
"""A token id and the bias added to its logit."""


Policy: TypeAlias = Literal["sample", "greedy", "beam"]
"""Decoding policy: random sampling, always the likeliest token, or beam search."""

NUM_BEAMS = 4
"""Default width of a beam search."""
MAX_BEAM_TOKENS = 512
"""A beam search evaluates every token once per beam."""
BIASING_FIELDS = ("presence_penalty", "frequency_penalty", "logit_bias", "json_schema")
"""Not allowed in a beam search, which compares unmodified probabilities."""


MAX_SEED = 2**32 - 2


class Sampling(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Sampling parameters. Values out of range, or in conflict with the policy, are refused, not
    clamped.

    None means unset: defaults of prompts and settings fill it in; the engine uses the model's
    default for what is still None.
    """

    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, Meta(gt=0, le=1)] | None = None
    top_k: Annotated[int, Meta(ge=0, le=1000)] | None = None
    min_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    presence_penalty: Annotated[float, Meta(ge=-2, le=2)] | None = None
    frequency_penalty: Annotated[float, Meta(ge=-2, le=2)] | None = None
    repeat_penalty: Annotated[float, Meta(ge=0.1, le=10)] | None = None
    seed: Annotated[int, Meta(ge=0, le=MAX_SEED)] | None = None
    max_tokens: Annotated[int, Meta(ge=1, le=1_048_576)] | None = None
    stop: Annotated[tuple[StopString, ...], Meta(max_length=4)] | None = None
    logit_bias: Annotated[tuple[Bias, ...], Meta(max_length=300)] | None = None
    top_logprobs: Annotated[int, Meta(ge=0, le=20)] | None = None
    """Number of alternatives to record per token."""
    json_schema: str | None = None
    """JSON Schema of the answer, as JSON: one object and nothing after it, because engines get it
    verbatim."""
    policy: Policy | None = None
    num_beams: Annotated[int, Meta(ge=2, le=8)] | None = None
    """Width of a beam search."""

    @property
    def explicit(self) -> dict[str, object]:
        """The fields that are set."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @property
    def num_hypotheses(self) -> int:
        """Number of answers decoded side by side."""
        return (self.num_beams or NUM_BEAMS) if self.policy == "beam" else 1

    def __post_init__(self) -> None:
        if self.json_schema is not None and not _is_object(self.json_schema):
            raise ValueError("`json_schema` has to be one JSON object")
        if self.policy in ("greedy", "beam") and self.temperature:
            raise ValueError(f"`{self.policy}` leaves nothing to chance: leave out `temperature`")
        if self.policy == "beam":
            self._check_beam()

    def _check_beam(self) -> None:
        biased = [name for name in BIASING_FIELDS if getattr(self, name)]
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


ANY_OBJECT = '{"type":"object"}'
"""The JSON Schema of any object."""

UNKNOWN_ID = -1
"""Token id if the engine does not report it."""


class Token(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A token of the answer. `token_id` may be UNKNOWN_ID."""

    token_id: int
    text: str
    """The characters this token completed; empty while a character is incomplete."""
    logprob: float | None
    at_ms: float
    """Time of arrival since the request to the engine."""
    top: tuple["Alternative", ...] = ()


class Alternative(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Another likely token at the same position."""

    token_id: int
    text: str
    logprob: float


class Usage(msgspec.Struct, frozen=True):
    """Tokens and milliseconds of a turn, as the engine counted them."""

    num_input_tokens: int = 0
    num_cached_tokens: int = 0
    num_output_tokens: int = 0
    queued_ms: float = 0.0
    prefill_ms: float = 0.0
    decode_ms: float = 0.0
    is_estimated: bool = False
    first_word_ms: float | UnsetType = UNSET
    """Time from Send to the first word. Absent before the first word, and in older records."""
    entropy: float | UnsetType = UNSET
    """Mean entropy of the token distributions, in bits: a lower bound, because unrecorded
    alternatives count as one token. Absent if no alternatives were recorded."""
    surprisal: float | UnsetType = UNSET
    """Mean surprisal of the chosen tokens, in bits, if their probabilities are known."""
    is_truncated: bool = False
    """The answer ended because the window was full."""
    num_searched_tokens: int | UnsetType = UNSET
    """Tokens evaluated for all hypotheses of a beam search."""


def add_usage(first: Usage, second: Usage) -> Usage:
    """Adds the usage of two rounds of one answer."""
    searched = [n for n in (first.num_searched_tokens, second.num_searched_tokens) if n]
    return Usage(
        num_input_tokens=first.num_input_tokens + second.num_input_tokens,
        num_cached_tokens=first.num_cached_tokens + second.num_cached_tokens,
        num_output_tokens=first.num_output_tokens + second.num_output_tokens,
        queued_ms=first.queued_ms + second.queued_ms,
        prefill_ms=first.prefill_ms + second.prefill_ms,
        decode_ms=first.decode_ms + second.decode_ms,
        is_estimated=first.is_estimated or second.is_estimated,
        first_word_ms=second.first_word_ms if first.first_word_ms is UNSET else first.first_word_ms,
        entropy=_join_means(first, second, first.entropy, second.entropy),
        surprisal=_join_means(first, second, first.surprisal, second.surprisal),
        is_truncated=first.is_truncated or second.is_truncated,
        num_searched_tokens=sum(searched) if searched else UNSET,
    )


def _join_means(
    first: Usage, second: Usage, mean: float | UnsetType, other: float | UnsetType
) -> float | UnsetType:
    """Returns the mean over the output tokens of both, where both are known or one has none."""
    if mean is UNSET or other is UNSET:
        return other if mean is UNSET else mean
    num, num_other = first.num_output_tokens, second.num_output_tokens
    return (mean * num + other * num_other) / max(num + num_other, 1)


Rating: TypeAlias = Literal["up", "down"]
Reason: TypeAlias = Literal["wrong", "not_helpful", "unsafe", "style", "other"]


class Feedback(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A user's rating of an answer."""

    rating: Rating
    reason: Reason | None = None
    text: Annotated[str, Meta(max_length=2000)] = ""
