"""Who counts what the runner does: metrics. The runner works without one."""

from collections.abc import Sequence
from typing import Protocol

from hitsend.events import Stamped


class TurnObserver(Protocol):
    def count_events(
        self, turn_id: str, model: str, events: Sequence[Stamped], *, is_last: bool
    ) -> None:
        """Events of a turn are stored and shown. `is_last`: no more of them will come."""

    def count_commit(self, num_events: int, seconds: float) -> None:
        """Events of some turns were stored together, after `seconds`."""

    def count_failed_commit(self) -> None:
        """They could not be stored, and will be tried again."""


class NoObserver:
    def count_events(
        self, turn_id: str, model: str, events: Sequence[Stamped], *, is_last: bool
    ) -> None:
        """Counts nothing."""

    def count_commit(self, num_events: int, seconds: float) -> None:
        """Counts nothing."""

    def count_failed_commit(self) -> None:
        """Counts nothing."""
