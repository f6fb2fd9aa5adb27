"""The safety classifier: which heads fire for a text, and how surely.

Disguises are undone, long texts are cut into overlapping windows, and the most alarming window
decides. An encoder in a process of its own turns windows into vectors, `heads` reads them, and a
linear model over n-grams has a small say. If the encoder is not there, the n-grams judge alone and
the verdict says that it is not complete: what to do then is for the caller to decide.

Thresholds are part of the trained weights. Nothing here knows turns, policies or engines.
"""

import asyncio
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

import msgspec

from hitsend.errors import EngineDown, ModelBroken
from hitsend.safety.disguises import undo_disguises
from hitsend.safety.heads import NGRAM_HEADS, Head, Heads, Ngrams, NgramStream

WEIGHTS_FOLDER = Path(__file__).with_name("weights")
HEADS_FILE = "heads.msgpack"
HEADS_SHA256 = "580b2946e3324f622be54094e2085c878aeea53f2e86d6d1fbc88e884c4ec60e"
ENCODER_SHA256 = "b8c9c5f089db8f98566f6f73eb678a578660291d9cafbaa1f85161a1c5c5e3c9"
NGRAM_SHARE = 0.15
MAX_INLINE_CHARS = 1_000
"""A text of this length takes less than a thread that is woken for it costs."""

WINDOW_COST = 250.0
"""In tokens, as estimated by `_cost`. The encoder reads 256."""
OVERLAP_SHARE = 0.2
MAX_WINDOWS = 160
LETTER_COST, OTHER_COST, FOREIGN_COST = 0.28, 0.6, 1.0
"""Tokens of a character: of a Latin letter or a space, of digits and punctuation, of others."""
SHORT_CHARS = int(WINDOW_COST / FOREIGN_COST)
"""A text of so many characters is one window, whatever it is made of."""

Decision: TypeAlias = Literal["pass", "ask", "block"]


class Encoder(Protocol):
    """Turns texts into vectors of length one."""

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Raises EngineDown."""


class Threshold(msgspec.Struct, frozen=True):
    """From `ask` on the judge is asked, from `block` on the text is refused."""

    ask: float
    block: float


class Trained(msgspec.Struct, frozen=True):
    """What training writes, except for the encoder."""

    heads: Heads
    ngrams: Ngrams
    thresholds: Mapping[Head, Threshold] = {}
    """A head without a threshold only informs."""
    ngram_thresholds: Mapping[Head, Threshold] = {}
    """For n-grams that judge alone."""


class Verdict(msgspec.Struct, frozen=True):
    scores: Mapping[Head, float]
    """Of each head, from 0 to 1, in the window that scored highest."""
    decisions: Mapping[Head, Decision]
    num_windows: int
    is_complete: bool
    """False if the encoder could not be used, or the text is too long to be read whole."""

    def top(self, heads: Sequence[Head]) -> Head:
        return max(heads, key=lambda head: self.scores.get(head, 0.0))


class Classifier:
    def __init__(
        self, trained: Trained, encoder: Encoder | None, *, needs_encoder: bool = True
    ) -> None:
        """Where no encoder is needed, the n-grams alone make a complete verdict."""
        self._trained = trained
        self._encoder = encoder
        self._needs_encoder = needs_encoder

    async def classify(self, text: str) -> Verdict:
        """Raises nothing for any text. Reads a long one outside the event loop."""
        if len(text) <= MAX_INLINE_CHARS:
            windows, is_whole = _read_windows(text)
            return self._judge(windows, await self._embed(windows), is_whole)
        windows, is_whole = await asyncio.to_thread(_read_windows, text)
        vectors = await self._embed(windows)
        return await asyncio.to_thread(self._judge, windows, vectors, is_whole)

    def begin_answer(self) -> tuple[NgramStream, float]:
        """Returns what scores an answer while it grows, and the score from which it is alarming."""
        threshold = self._trained.ngram_thresholds.get("answer harm")
        alarm = threshold.ask if threshold else 1.0
        return self._trained.ngrams.stream("answer harm"), alarm

    async def _embed(self, windows: Sequence[str]) -> Sequence[bytes] | None:
        if self._encoder is None:
            return None
        try:
            return await self._encoder.embed(windows)
        except EngineDown:
            return None

    def _judge(
        self, windows: Sequence[str], vectors: Sequence[bytes] | None, is_whole: bool
    ) -> Verdict:
        trained = self._trained
        by_ngrams = [trained.ngrams.score(window) for window in windows]
        if vectors is None:
            scores, thresholds = _highest(by_ngrams), trained.ngram_thresholds
        else:
            by_heads = map(trained.heads.score, vectors)
            scores = _highest([_mix(*pair) for pair in zip(by_heads, by_ngrams, strict=True)])
            thresholds = trained.thresholds
        decisions = {head: _decide(scores[head], one) for head, one in thresholds.items()}
        is_complete = is_whole and (vectors is not None or not self._needs_encoder)
        return Verdict(scores, decisions, len(windows), is_complete)


def load_trained(folder: Path = WEIGHTS_FOLDER) -> Trained | None:
    """Returns the weights that come with hitsend, or None in an install without them. Raises
    ModelBroken."""
    file = folder / HEADS_FILE
    if not file.is_file():
        return None
    content = file.read_bytes()
    if hashlib.sha256(content).hexdigest() != HEADS_SHA256:
        raise ModelBroken(f"{file} is damaged: its checksum is wrong.")
    return msgspec.msgpack.decode(content, type=Trained)


def cut_windows(text: str) -> Iterator[str]:
    """Cuts at spaces where there are any. Each window begins in the last fifth of the one before,
    so that no sentence is seen only in halves."""
    start = 0
    while len(text) - start > SHORT_CHARS:
        end, overlap = _find_end(text, start)
        if end == len(text):
            break
        yield text[start:end]
        start = max(overlap, start + 1)
    yield text[start:]


def _read_windows(text: str) -> tuple[list[str], bool]:
    windows: list[str] = []
    for window in cut_windows(undo_disguises(text)):
        if len(windows) == MAX_WINDOWS:
            return windows, False
        windows.append(window)
    return windows, True


def _find_end(text: str, start: int) -> tuple[int, int]:
    """Returns where the window ends, and where the next one begins."""
    cost, at, overlap = 0.0, start, start
    while at < len(text) and cost < WINDOW_COST:
        cost += _cost(text[at])
        at += 1
        if cost < WINDOW_COST * (1 - OVERLAP_SHARE):
            overlap = at
    if at == len(text):
        return at, at
    space = text.rfind(" ", overlap, at)
    next_space = text.find(" ", overlap, at)
    return (at if space < 0 else space), (overlap if next_space < 0 else next_space + 1)


def _cost(char: str) -> float:
    if char.isascii():
        return LETTER_COST if char.isalpha() or char.isspace() else OTHER_COST
    return FOREIGN_COST


def _mix(by_heads: Mapping[Head, float], by_ngrams: Mapping[Head, float]) -> dict[Head, float]:
    return {
        head: score + NGRAM_SHARE * (by_ngrams[head] - score) if head in NGRAM_HEADS else score
        for head, score in by_heads.items()
    }


def _highest(scores: Sequence[Mapping[Head, float]]) -> dict[Head, float]:
    return {head: max(one[head] for one in scores) for head in scores[0]}


def _decide(score: float, threshold: Threshold) -> Decision:
    if score >= threshold.block:
        return "block"
    return "ask" if score >= threshold.ask else "pass"
