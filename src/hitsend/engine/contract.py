"""The engine contract: what every engine can do. Read this file first.

    encode -> generate

`encode` turns messages into a prompt of token ids. `generate` turns a prompt into steps: perhaps
`Delayed`, then `Prefilled`, `Generated` again and again, and `Finished`. Three engines implement
the contract: `llama` (llama.cpp on this machine), `remote` (a server elsewhere) and `scripted`
(no model). An engine does not know people, conversations or the web framework.
"""

from collections.abc import AsyncGenerator, Sequence
from typing import Literal, Protocol, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from hitsend.events import Delay, Span
from hitsend.messages import FREE, AnswerRules, Message, Sampling, Token, Tool, Usage

# Models.

Level: TypeAlias = Literal["tokens", "chat"]
"""`tokens`: the engine exchanges token ids and probabilities. `chat`: it exchanges only text, and
token counts are estimates."""

EngineState: TypeAlias = Literal["starting", "ready", "restarting", "down"]

Strength: TypeAlias = Literal["code", "conversation", "short_answers", "tools", "writing"]
"""A use a model is good at, according to its makers or its size."""


class ModelFacts(msgspec.Struct, frozen=True):
    """A model that can generate now. `name` is what people type."""

    name: str
    title: str
    num_window_tokens: int
    level: Level
    where: Literal["here", "remote"]
    quantisation: str | None = None
    weights_sha256: str | None = None
    num_bytes: int | None = None
    can_call_tools: bool = False
    is_default: bool = False
    good_at: tuple[Strength, ...] = ()
    has_next_token_probs: bool = False
    """Whether the engine can return the probabilities of the next token. Beam search needs them."""
    has_room_beside: bool = False
    """Whether `generate_beside` may run while people's answers do."""
    default_sampling: Sampling | UnsetType = UNSET
    """The values used for settings that nobody chose. Unset where only the server knows them."""
    is_exact: bool | None = None
    """Whether our prompts have the same token ids as the model's own server would produce: see
    `parity`. None until checked, and always None at the chat level."""


class Offer(msgspec.Struct, frozen=True):
    """A model that `fetch` can download. `name` is what people type."""

    name: str
    title: str
    num_bytes: int
    num_window_tokens: int
    quantisation: str
    good_at: tuple[Strength, ...]
    is_here: bool


class Download(msgspec.Struct, frozen=True):
    """A download of weights: `num_done_bytes` of `num_bytes` are on disk. `problem` is set when
    it failed."""

    name: str
    num_done_bytes: int
    num_bytes: int
    problem: str | None = None


class EngineStatus(msgspec.Struct, frozen=True):
    """The state of the engine, for /readyz and for the page."""

    state: EngineState
    detail: str
    """One sentence for people: what is happening, or what to do."""
    num_busy_slots: int = 0
    num_slots: int = 0
    num_waiting: int = 0
    downloads: tuple[Download, ...] = ()
    first_token_s: float | None = None
    """How long an answer that waits for its first token may be silent before it is given up. None
    where the engine says meanwhile that it works."""


# Prompts.


class CallGuide(msgspec.Struct, frozen=True):
    """What guides a small model to its calls of tools. The prompt lists the tools in few words."""

    said: tuple[str, ...]
    """What the person and the tools said: arguments come from it."""
    reply: str
    """The name by which the model chooses to answer in words."""
    num_requests: int = 1
    """How many things the question asks for that do not depend on each other."""
    has_called: bool = False
    """Whether a call was made for the question before, and the model has read its result."""
    weights: tuple[float, ...] = ()
    """What is added, in logits, to each of the prompt's tools, and to the reply. Empty if nothing
    is known (`tool_weights`)."""
    weights_after: tuple[tuple[float, ...], ...] = ()
    """The weights once each of the tools has been called. Empty if one thing was asked for."""


class Prompt(msgspec.Struct, frozen=True):
    """The input of a model, and what its answer may be. Token level engines fill `ids`; chat level
    engines use `messages`."""

    model: str
    num_tokens: int
    num_window_tokens: int
    is_exact: bool
    """Whether `num_tokens` is counted and not estimated."""
    spans: tuple[Span, ...]
    ids: tuple[int, ...] = ()
    messages: tuple[Message, ...] = ()
    tools: tuple[Tool, ...] = ()
    """The tools that the answer may call."""
    rules: AnswerRules = FREE
    """Rules that the answer has to follow."""
    guide: CallGuide | None = None
    """Set if the engine guides the model's calls of these tools."""


class TokenizedText(msgspec.Struct, frozen=True):
    """A text as token ids, and the bytes of each token."""

    ids: tuple[int, ...]
    pieces: tuple[bytes, ...]


# Steps of a generation.


class Delayed(msgspec.Struct, frozen=True):
    """The generation waits: for a slot, or for the model to load. Sent only if it does wait."""

    reason: Delay
    num_ahead: int = 0


class Prefilled(msgspec.Struct, frozen=True):
    """The prompt is in the KV cache; decoding starts."""

    num_cached_tokens: int
    num_evaluated_tokens: int
    queued_ms: float
    prefill_ms: float


class Generated(msgspec.Struct, frozen=True, gc=False):
    """Tokens that arrived in one network read. `text` is the joined text of `tokens`.

    One step for each read, not for each token, keeps the cost of a step off every token."""

    text: str
    tokens: tuple[Token, ...]
    num_searched_tokens: int | UnsetType = UNSET
    """Beam search only: the tokens evaluated since the previous step. `tokens` may be empty."""
    reasoning: str = ""
    """What the model thought before this text, where a server tells it apart. No part of it."""


class Finished(msgspec.Struct, frozen=True):
    """Always the last step."""

    reason: Literal["stop", "length"]
    usage: Usage


GenerationStep: TypeAlias = Delayed | Prefilled | Generated | Finished


# Work in idle time.


class PrefillResult(msgspec.Struct, frozen=True):
    """The part of a prompt that was prefilled. Not complete when preempted or not possible."""

    num_cached_tokens: int = 0
    num_evaluated_tokens: int = 0
    prefill_ms: float = 0.0
    is_complete: bool = False


class Preempted(Exception):
    """Idle work was cancelled, or could not start, because a person's answer needs the engine."""


# Probabilities of the next token, for beam search.


class Candidate(msgspec.Struct, frozen=True, gc=False):
    """A possible next token."""

    token_id: int
    piece: bytes
    """The bytes it adds to the text: not always whole characters."""
    logprob: float
    is_end: bool = False


class NextTokens(msgspec.Struct, frozen=True):
    """The possible next tokens, most likely first, with the model's own probabilities."""

    candidates: tuple[Candidate, ...]
    num_evaluated_tokens: int = 0
    """The tokens the model had to evaluate for this."""


class Engine(Protocol):
    async def start(self) -> None:
        """Returns at once. Loading continues in the background: see `status`."""

    async def close(self) -> None: ...

    def status(self) -> EngineStatus: ...

    async def models(self) -> Sequence[ModelFacts]:
        """Returns the models that can generate now, the default first."""

    async def offers(self) -> Sequence[Offer]:
        """Returns the models `fetch` can download, the default last. Empty for a remote engine."""

    async def fetch(self, name: str) -> None:
        """Starts the download of an offered model; `status` reports its progress. Raises
        UnknownModel, and Conflict if the model is here already."""

    async def remove(self, name: str) -> None:
        """Deletes a model's weights, also a partial download. Raises UnknownModel, and Conflict
        if the model is the default or is generating."""

    async def require_ready(self, name: str) -> None:
        """Raises EngineDown if `resolve` would have to load the model, and UnknownModel. Loads
        nothing: for requests that are not worth evicting another model from memory."""

    async def resolve(self, name: str) -> ModelFacts:
        """Returns the model called `name` ("auto" is the default). Waits a while for an engine
        that is starting, then raises EngineDown. Raises UnknownModel."""

    async def encode(
        self,
        model: str,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        rules: AnswerRules = FREE,
    ) -> Prompt:
        """Renders the model's chat template around `messages`, up to where the answer begins. If
        the last message is a partial `answer`, the prompt ends with it, and the model
        continues it; raises Refused if the model's server cannot do that.

        Special tokens inside a message are encoded as text, never as structure."""

    async def tokenize(self, model: str, text: str) -> TokenizedText:
        """Does not parse special tokens. Raises Refused on a chat level engine."""

    async def detokenize(self, prompt: Prompt) -> tuple[bytes, ...]:
        """Returns the bytes of each token. Raises Refused on a chat level engine."""

    def generate(
        self, prompt: Prompt, sampling: Sampling, lane: str = ""
    ) -> AsyncGenerator[GenerationStep, None]:
        """Closing the generator cancels the generation and frees its slot. Raises EngineDown if
        the engine cannot take the prompt, EngineLost if it dies during the generation. If it dies
        before the first token, the request may be retried unnoticed.

        The queue is fair between lanes: callers pass one lane for each person."""

    async def prefill(self, prompt: Prompt) -> PrefillResult:
        """Evaluates the prompt into the KV cache and generates nothing. May do nothing. Runs only
        while the engine is idle; a person's answer preempts it."""

    async def generate_when_idle(
        self, prompt: Prompt, sampling: Sampling, *, can_wait: bool = True
    ) -> str:
        """Returns a short text that no person waits for, such as a title. Runs only while the
        engine is idle and loads no model. If the model cannot run beam search, it samples. Raises
        Preempted when a person's answer comes, or at once if the engine is busy and `can_wait` is
        False."""

    async def generate_beside(self, prompt: Prompt, sampling: Sampling) -> str:
        """Returns a short text like `generate_when_idle`, but while people's answers run. Raises
        Preempted at once if the engine has no room for it beside them."""


class Embedder(Protocol):
    """Turns texts into vectors that are close if the texts are close in meaning. `minilm` uses a
    model, `word_hashes` does not."""

    @property
    def name(self) -> str:
        """Only vectors of the same name are comparable."""

    async def start(self) -> None:
        """Returns at once."""

    async def close(self) -> None: ...

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Returns one unit vector for each text, in order: float32, little endian. Raises
        EngineDown."""
