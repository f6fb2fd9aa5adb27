"""Text that arrived piece by piece, joined again for a reader that takes it in one go.

So a view's cost follows how often it is asked, not how many tokens there were.
"""

from collections.abc import Iterable, Iterator, Sequence

from hitsend.events import Stamped, TextArrived, joined

MAX_CHARS = 4096
"""At most 16 kB of UTF-8. A single arrival is never cut, however long it is."""


def coalesced(batch: Sequence[Stamped], max_chars: int | None = MAX_CHARS) -> Iterable[Stamped]:
    """The same events, with neighbouring arrivals of text made one of at most `max_chars`."""
    return batch if len(batch) < 2 else _runs(batch, max_chars)


def _runs(batch: Sequence[Stamped], max_chars: int | None) -> Iterator[Stamped]:
    run: list[Stamped] = []
    num_chars = 0
    for stamped in batch:
        more = _num_chars(stamped)
        is_full = max_chars is not None and num_chars + (more or 0) > max_chars
        if run and (more is None or is_full):
            yield _one(run)
            run, num_chars = [], 0
        if more is None:
            yield stamped
        else:
            run.append(stamped)
            num_chars += more
    if run:
        yield _one(run)


def _num_chars(stamped: Stamped) -> int | None:
    return len(stamped.event.text) if isinstance(stamped.event, TextArrived) else None


def _one(run: list[Stamped]) -> Stamped:
    """Numbered as the last of them, timed as the first that said something."""
    if len(run) == 1:
        return run[0]
    first = next((stamped for stamped in run if _num_chars(stamped)), run[0])
    arrivals = [stamped.event for stamped in run if isinstance(stamped.event, TextArrived)]
    return Stamped(run[-1].seq, first.at_ms, joined(arrivals))
