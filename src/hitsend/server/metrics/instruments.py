"""Makes the counters, histograms and gauges of one server, under one prefix."""

from collections.abc import Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import choose_encoder

NAMESPACE = "hitsend"


class Instruments:
    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._gauges: dict[str, Gauge] = {}

    def counter(self, name: str, help_text: str, *labels: str) -> Counter:
        return Counter(name, help_text, labels, namespace=NAMESPACE, registry=self._registry)

    def histogram(
        self, name: str, help_text: str, buckets: Sequence[float], *labels: str
    ) -> Histogram:
        return Histogram(
            name, help_text, labels, namespace=NAMESPACE, registry=self._registry, buckets=buckets
        )

    def set_gauge(self, name: str, help_text: str, value: float, **labels: str) -> None:
        gauge = self._gauges.get(name)
        if gauge is None:
            gauge = self._gauges[name] = Gauge(
                name, help_text, tuple(labels), namespace=NAMESPACE, registry=self._registry
            )
        (gauge.labels(**labels) if labels else gauge).set(value)

    def encode(self, accept: str) -> tuple[bytes, str]:
        """Returns the text of all of them, and its media type."""
        encode, media_type = choose_encoder(accept)
        return encode(self._registry), media_type
