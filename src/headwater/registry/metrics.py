"""What the registry counts, in Prometheus' format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client.metrics_core import Metric

    from headwater.registry.kafka_log import KafkaLog
    from headwater.registry.writer import Writer

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """Counts of requests, and what the store holds when somebody asks."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "headwater_registry_requests",
            "Requests by route and status.",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self.seconds = Histogram(
            "headwater_registry_request_seconds",
            "How long requests took.",
            ("method", "route"),
            registry=self.registry,
            buckets=(0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10),
        )
        self.forwarded = Counter(
            "headwater_registry_forwarded",
            "Requests that were passed on to the leader.",
            registry=self.registry,
        )

    def watch(self, writer: Writer, log: KafkaLog) -> None:
        """Report the state of store and log, too."""
        self.registry.register(_State(writer, log))

    def text(self) -> bytes:
        """Return all of it."""
        return generate_latest(self.registry)


class _State:
    def __init__(self, writer: Writer, log: KafkaLog) -> None:
        self._writer = writer
        self._log = log

    def collect(self) -> Iterator[Metric]:
        """Count what there is."""
        writer, store = self._writer, self._writer.store
        schemas = GaugeMetricFamily(
            "headwater_registry_schemas",
            "Versions of subjects.",
            labels=("type", "deleted"),
        )
        counts: dict[tuple[str, str], int] = {}
        for schema in store.schemas:
            key = (schema.type, "true" if schema.deleted else "false")
            counts[key] = counts.get(key, 0) + 1
        for key, count in sorted(counts.items()):
            schemas.add_metric(key, count)
        yield schemas
        gauges = {
            "subjects": ("Subjects.", len(store.subjects)),
            "leader": ("Whether this instance leads.", int(writer.is_leader)),
            "leader_epoch": ("The epoch of whoever leads.", writer.leadership.tenure.epoch),
            "log_position": ("The offset up to which the topic was read.", self._log.position),
            "skipped_records": ("Records that are none of ours.", writer.skipped),
        }
        for name, (text, value) in gauges.items():
            yield GaugeMetricFamily(f"headwater_registry_{name}", text, value=value)
