"""What the proxy counts, in Prometheus' format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client.core import GaugeMetricFamily

from headwater.http.metrics import RequestMetrics

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client.metrics_core import Metric

    from headwater.rest.acknowledged_producer import AcknowledgedProducer
    from headwater.rest.consumers.instances import ConsumerInstances


class Metrics(RequestMetrics):
    """Counts of requests, and what the proxy holds when somebody asks."""

    def __init__(self) -> None:
        super().__init__("headwater_rest")

    def watch(self, consumers: ConsumerInstances, producer: AcknowledgedProducer) -> None:
        """Report consumer instances and records under way, too."""
        self.registry.register(_State(consumers, producer))


class _State:
    def __init__(self, consumers: ConsumerInstances, producer: AcknowledgedProducer) -> None:
        self._consumers = consumers
        self._producer = producer

    def collect(self) -> Iterator[Metric]:
        """Count what there is."""
        gauges = {
            "consumer_instances": ("Consumer instances.", len(self._consumers)),
            "kafka_consumers": (
                "Consumer instances that have a Kafka consumer.",
                self._consumers.with_consumers,
            ),
            "produce_bytes_in_flight": (
                "Bytes of records that the cluster has not acknowledged yet.",
                self._producer.in_flight,
            ),
        }
        for name, (text, value) in gauges.items():
            yield GaugeMetricFamily(f"headwater_rest_{name}", text, value=value)
