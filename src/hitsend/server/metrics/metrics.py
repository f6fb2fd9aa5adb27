"""Counts what happens since the start of the server.

The path of a message only adds to numbers here; text is made when `/metrics` is read. A label is a
model, a route's pattern, a status or a code: nothing of a person, and nothing that a client can
choose, so that nobody can fill the memory with new ones.
"""

from collections.abc import Sequence

from hitsend.events import Stamped
from hitsend.server.metrics.instruments import Instruments
from hitsend.server.metrics.turn_metrics import TurnMetrics

REQUEST_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER, NO_ROUTE = "other", "none"
COMMIT_BUCKETS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5)


class Metrics:
    def __init__(self) -> None:
        self.instruments = make = Instruments()
        self._turns = TurnMetrics(make)
        self._requests = make.counter(
            "requests", "HTTP requests, by the pattern of their route.", "method", "route", "status"
        )
        self._request_s = make.histogram(
            "request_seconds",
            "Time of a request, to the end of its response. A stream takes as long as its answer.",
            REQUEST_BUCKETS,
            "route",
        )
        self._errors = make.counter("errors", "Error responses, by their code.", "code")
        self._commit_s = make.histogram(
            "commit_seconds", "Time to store new events of running turns.", COMMIT_BUCKETS
        )
        self._stored_events = make.counter("stored_events", "Events of turns that were stored.")
        self._failed_commits = make.counter(
            "failed_commits", "Commits that failed and were tried again."
        )

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        self._requests.labels(method, route, str(status)).inc()
        self._request_s.labels(route).observe(seconds)

    def count_unknown_route(self, method: str, status: int, code: str) -> None:
        """The client has chosen the method and the address."""
        known = method if method in METHODS else OTHER
        self._requests.labels(known, NO_ROUTE, str(status)).inc()
        self.count_error(code)

    def count_error(self, code: str) -> None:
        self._errors.labels(code).inc()

    def count_commit(self, num_events: int, seconds: float) -> None:
        self._commit_s.observe(seconds)
        self._stored_events.inc(num_events)

    def count_failed_commit(self) -> None:
        self._failed_commits.inc()

    def count_events(
        self, turn_id: str, model: str, events: Sequence[Stamped], *, is_last: bool
    ) -> None:
        self._turns.count(turn_id, model, events, is_last=is_last)
