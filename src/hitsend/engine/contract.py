"""What an engine is: it turns messages into tokens and tokens into tokens.

It knows no people, no conversations and no HTTP framework. Everything a turn needs of a
model is here; `llama`, `remote` and `scripted` are the three that keep the promise.
"""

from collections.abc import AsyncGenerator, Sequence
from typing import Literal, Protocol, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from hitsend.events import Delay, Span
from hitsend.messages import Message, Sampling, Token, Tool, Usage

Level: TypeAlias = Literal["tokens", "chat"]
"""`tokens`: ids in, ids and probabilities out. `chat`: only text, counts are estimates."""

State: TypeAlias = Literal["starting", "ready", "restarting", "down"]

Strength: TypeAlias = Literal["code", "conversation", "short_answers", "tools", "writing"]
"""What a model is good at, as far as its makers or its size tell."""


class ModelFacts(msgspec.Struct, frozen=True):
    """What is true of a model that can be asked now. `name` is what people type."""

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
    can_foresee: bool = False
    """Whether it tells what may come next, which a beam search needs."""
    is_exact: bool | None = None
    """Whether its prompts are the tokens its own server would make of them: see `parity`. None
    while that is not known, and at the chat level, where nobody can tell."""


class Offer(msgspec.Struct, frozen=True):
    """A model that can be fetched, or was. `name` is what people type."""

    name: str
    title: str
    num_bytes: int
    num_window_tokens: int
    quantisation: str
    good_at: tuple[Strength, ...]
    is_here: bool


class Download(msgspec.Struct, frozen=True):
    """Weights on their way. `num_done_bytes` of `num_bytes` are on disk."""

    name: str
    num_done_bytes: int
    num_bytes: int
    problem: str | None = None


class EngineStatus(msgspec.Struct, frozen=True):
    """How the engine is, for /readyz and for the page."""

    state: State
    detail: str
    """One sentence a person can read: what is happening, or what to do."""
    num_busy_slots: int = 0
    num_slots: int = 0
    num_waiting: int = 0
    downloads: tuple[Download, ...] = ()


class Prompt(msgspec.Struct, frozen=True):
    """What goes into a model. Token level engines fill `ids`; chat level ones use `messages`."""

    model: str
    num_tokens: int
    num_window_tokens: int
    is_exact: bool
    spans: tuple[Span, ...]
    ids: tuple[int, ...] = ()
    messages: tuple[Message, ...] = ()
    tools: tuple[Tool, ...] = ()


class Delayed(msgspec.Struct, frozen=True):
    """The answer has to wait. Said only where it does, before the prompt is read."""

    reason: Delay
    num_ahead: int = 0


class PromptWasRead(msgspec.Struct, frozen=True):
    num_cached_tokens: int
    num_evaluated_tokens: int
    queued_ms: float
    prefill_ms: float


class Generated(msgspec.Struct, frozen=True, gc=False):
    """Tokens that arrived together. Batches follow the network's reads, so cost follows
    reads and not tokens. `text` is the joined text of `tokens`."""

    text: str
    tokens: tuple[Token, ...]
    num_searched_tokens: int | UnsetType = UNSET
    """Of a search: what it has evaluated since it said this last. It may have found nothing yet."""


class Finished(msgspec.Struct, frozen=True):
    """Always the last thing a generation says."""

    reason: Literal["stop", "length"]
    usage: Usage


Generation: TypeAlias = Delayed | PromptWasRead | Generated | Finished


class Prefilled(msgspec.Struct, frozen=True):
    """What was read ahead. Not whole where a person came first, or nothing could be read."""

    num_cached_tokens: int = 0
    num_evaluated_tokens: int = 0
    prefill_ms: float = 0.0
    is_whole: bool = False


class GaveWay(Exception):
    """What nobody waits for was left off, because a person wants the engine."""


class Pieces(msgspec.Struct, frozen=True):
    """A text in a model's own tokens: ids, and the bytes each one stands for."""

    ids: tuple[int, ...]
    pieces: tuple[bytes, ...]


class Candidate(msgspec.Struct, frozen=True, gc=False):
    """A token that may come next."""

    token_id: int
    piece: bytes
    """What it adds to the text: not always whole characters."""
    logprob: float
    is_end: bool = False


class Outlook(msgspec.Struct, frozen=True):
    """What may come next, the likeliest first, by the model's own probabilities."""

    candidates: tuple[Candidate, ...]
    num_evaluated_tokens: int = 0
    """What it took to find out."""


class Engine(Protocol):
    async def start(self) -> None:
        """Begin. Returns at once: loading goes on behind, `status` tells how it is."""

    async def close(self) -> None: ...

    def status(self) -> EngineStatus: ...

    async def models(self) -> Sequence[ModelFacts]:
        """Those that can be asked now, the default first."""

    async def offers(self) -> Sequence[Offer]:
        """The models `fetch` knows, the default last. None where others choose the models."""

    async def fetch(self, name: str) -> None:
        """Begin to bring an offered model here; `status` tells how it gets on. Raises
        UnknownModel, and Conflict where it is here already."""

    async def remove(self, name: str) -> None:
        """Delete a model's weights, whole or half fetched. Raises UnknownModel, and Conflict
        while it is the one that answers by default or is answering."""

    async def require_ready(self, name: str) -> None:
        """Raises EngineDown where `resolve` would first have to load the model, and UnknownModel.
        Loads nothing: for questions that are not worth another model's place in memory."""

    async def resolve(self, name: str) -> ModelFacts:
        """The model people mean by `name` ("auto" is the default). Raises UnknownModel.
        Waits a while for an engine that is starting; then raises EngineDown."""

    async def encode(
        self, model: str, messages: Sequence[Message], tools: Sequence[Tool] = ()
    ) -> Prompt:
        """The model's chat template around `messages`, ready for an answer. If the last one is
        the `answer` begun so far, it goes on from its last word; where the model's server cannot
        do that, it raises Refused.

        Text never becomes structure: special tokens inside a message stay text."""

    async def tokenize(self, model: str, text: str) -> Pieces:
        """Special tokens are not parsed. Raises Refused on a chat level engine."""

    async def spell(self, prompt: Prompt) -> tuple[bytes, ...]:
        """What each token of it stands for. Raises Refused on a chat level engine."""

    def generate(
        self, prompt: Prompt, sampling: Sampling, lane: str = ""
    ) -> AsyncGenerator[Generation, None]:
        """Closing the generator cancels and frees the slot. Raises EngineLost when the
        engine dies on the way, EngineDown when it cannot take the prompt. One that dies
        before its first word may be asked again behind the scenes: nobody has heard anything.

        `lane` says whose it is: places in the queue go round between lanes."""

    async def prefill(self, prompt: Prompt) -> Prefilled:
        """Read the prompt and keep it warm; say nothing. May do nothing. Waits until no
        person's answer runs or waits here, and gives way when one comes."""

    async def aside(self, prompt: Prompt, sampling: Sampling, *, can_wait: bool = True) -> str:
        """A short text that nobody waits for. Runs only while no person's answer runs or waits
        here, and loads no model. A model that cannot search samples. Raises GaveWay when a person
        comes, or at once where the engine has no time now and this cannot wait."""
