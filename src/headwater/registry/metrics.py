"""What the registry counts, in Prometheus' format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import Counter
from prometheus_client.core import GaugeMetricFamily

from headwater.http.metrics import RequestMetrics

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client.metrics_core import Metric

    from headwater.registry.store import SchemaStore
    from headwater.topic_state.member import Member


class Metrics(RequestMetrics):
    """Counts of requests, and what the store holds when somebody asks."""

    def __init__(self) -> None:
        super().__init__("headwater_registry")
        self.forwarded = Counter(
            "headwater_registry_forwarded",
            "Requests that were passed on to the leader.",
            registry=self.registry,
        )

    def watch(self, store: SchemaStore, member: Member) -> None:
        """Report the state of store and log, too."""
        self.registry.register(_State(store, member))


class _State:
    def __init__(self, store: SchemaStore, member: Member) -> None:
        self._store = store
        self._member = member

    def collect(self) -> Iterator[Metric]:
        """Count what there is."""
        store, writer, log = self._store, self._member.writer, self._member.log
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
            "log_position": ("The offset up to which the topic was read.", log.position),
            "skipped_records": ("Records that are none of ours.", writer.skipped),
        }
        for name, (text, value) in gauges.items():
            yield GaugeMetricFamily(f"headwater_registry_{name}", text, value=value)
