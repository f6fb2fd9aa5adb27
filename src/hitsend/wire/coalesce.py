"""Joins neighbouring TextArrived events of a batch into one.

A view then costs per batch, not per token.
"""

from collections.abc import Iterable, Iterator, Sequence

from hitsend.events import Stamped, TextArrived, join_texts

MAX_CHARS = 4096
"""At most 16 kB of UTF-8. A single event is never split, however long it is."""


def coalesce_text(batch: Sequence[Stamped], max_chars: int | None = MAX_CHARS) -> Iterable[Stamped]:
    """Returns the events with neighbouring text joined up to `max_chars`; None joins it all."""
    return batch if len(batch) < 2 else _coalesce_runs(batch, max_chars)


def _coalesce_runs(batch: Sequence[Stamped], max_chars: int | None) -> Iterator[Stamped]:
    run: list[Stamped] = []
    num_chars = 0
    for stamped in batch:
        length = _text_length(stamped)
        is_full = max_chars is not None and num_chars + (length or 0) > max_chars
        if run and (length is None or is_full):
            yield _join_run(run)
            run, num_chars = [], 0
        if length is None:
            yield stamped
        else:
            run.append(stamped)
            num_chars += length
    if run:
        yield _join_run(run)


def _text_length(stamped: Stamped) -> int | None:
    """None for an event that is no text."""
    return len(stamped.event.text) if isinstance(stamped.event, TextArrived) else None


def _join_run(run: list[Stamped]) -> Stamped:
    """Takes the number of the last event and the time of the first with text."""
    if len(run) == 1:
        return run[0]
    first = next((stamped for stamped in run if _text_length(stamped)), run[0])
    arrivals = [stamped.event for stamped in run if isinstance(stamped.event, TextArrived)]
    return Stamped(run[-1].seq, first.at_ms, join_texts(arrivals))
