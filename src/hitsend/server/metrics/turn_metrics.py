"""Metrics of turns, by model: how they ended, their tokens, and how fast they were."""

from collections.abc import Iterable
from dataclasses import dataclass

from msgspec import UNSET
from prometheus_client import Histogram

from hitsend.events import (
    AnswerFinished,
    AnyEvent,
    PromptRead,
    PromptWarmed,
    Stamped,
    TextArrived,
    TurnFailed,
    TurnFinished,
)
from hitsend.server.metrics.instruments import Instruments

FIRST_TOKEN_BUCKETS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 20, 60)
GAP_BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.075, 0.1, 0.2, 0.5, 1, 5)
TIME_BUCKETS = (0.01, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300)


class TurnMetrics:
    def __init__(self, make: Instruments) -> None:
        self._make = make
        self._turns = make.counter("turns", "Turns that ended, by how.", "model", "ending")
        self._failures = make.counter(
            "turn_failures", "Turns that failed, by the code of the error.", "model", "code"
        )
        self._tokens = make.counter(
            "tokens",
            "Tokens of answers: of their prompts (`prompt`), of those in the KV cache (`cached`), "
            "and written (`output`).",
            "model",
            "kind",
        )
        self._prewarmed = make.counter(
            "prewarmed_turns", "Turns whose prompt was read while it was typed.", "model"
        )
        self._first_token_s = make.histogram(
            "first_token_seconds",
            "Time from Send to the first text that was stored and shown.",
            FIRST_TOKEN_BUCKETS,
            "model",
        )
        self._gap_s = make.histogram(
            "token_gap_seconds",
            "Time between two tokens of an answer. Tokens that arrive together share it.",
            GAP_BUCKETS,
            "model",
        )
        self._queued_s = make.histogram(
            "queued_seconds", "Time of an answer in the queue for a slot.", TIME_BUCKETS, "model"
        )
        self._prefill_s = make.histogram(
            "prefill_seconds", "Time to read a prompt.", TIME_BUCKETS, "model"
        )
        self._turn_s = make.histogram(
            "turn_seconds", "Time from Send to the end of a turn.", TIME_BUCKETS, "model"
        )
        self._models: dict[str, _OfModel] = {}
        self._running: dict[str, _Running] = {}

    def count(self, turn_id: str, model: str, events: Iterable[Stamped], *, is_last: bool) -> None:
        """Counts events of a turn that were stored. `is_last`: no more of them will come."""
        running = self._running.get(turn_id)
        if running is None:
            running = self._running[turn_id] = _Running(self._of_model(model))
        for stamped in events:
            if isinstance(stamped.event, TextArrived):
                running.count_text(stamped.event, stamped.at_ms)
            else:
                self._count(stamped.event, stamped.at_ms, model, running)
        if is_last:
            del self._running[turn_id]

    def _count(self, event: AnyEvent, at_ms: float, model: str, running: "_Running") -> None:
        match event:
            case PromptRead(queued_ms=queued_ms, prefill_ms=prefill_ms):
                running.last_text_ms = None
                self._queued_s.labels(model).observe(queued_ms / 1000)
                self._prefill_s.labels(model).observe(prefill_ms / 1000)
            case PromptWarmed():
                self._prewarmed.labels(model).inc()
            case AnswerFinished(usage=usage):
                self._tokens.labels(model, "prompt").inc(usage.num_input_tokens)
                self._tokens.labels(model, "cached").inc(usage.num_cached_tokens)
                self._tokens.labels(model, "output").inc(usage.num_output_tokens)
            case TurnFinished(ending=ending):
                self._turns.labels(model, ending).inc()
                self._turn_s.labels(model).observe(at_ms / 1000)
            case TurnFailed(code=code):
                self._turns.labels(model, "failed").inc()
                self._failures.labels(model, code).inc()
            case _:
                pass

    def _of_model(self, model: str) -> "_OfModel":
        if model not in self._models:
            self._models[model] = _OfModel(
                self._first_token_s.labels(model), self._gap_s.labels(model)
            )
        return self._models[model]


@dataclass(slots=True)
class _OfModel:
    """What every token of a model adds to: finding it by labels would cost more than the rest."""

    first_token_s: Histogram
    gap_s: Histogram


@dataclass(slots=True)
class _Running:
    """A turn that runs."""

    model: _OfModel
    last_text_ms: float | None = None
    """When its newest text arrived. None before the first, and while a prompt is read again."""

    def count_text(self, text: TextArrived, at_ms: float) -> None:
        if text.first_word_ms is not UNSET:
            self.model.first_token_s.observe(text.first_word_ms / 1000)
        if self.last_text_ms is not None:
            gap_ms = (at_ms - self.last_text_ms) / max(len(text.tokens), 1)
            self.model.gap_s.observe(gap_ms / 1000)
        self.last_text_ms = at_ms
