"""What the pipeline has written, read back from its topics as any consumer would."""

from __future__ import annotations

import json
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from confluent_kafka import Consumer, KafkaError

if TYPE_CHECKING:
    from collections.abc import Callable

ALERTS = "alerts"
WITH_UNITS = "measurements-with-units"
AVERAGES = "averages-per-minute"
SHORT_RUNS = "short-runs"
TOPICS = (ALERTS, WITH_UNITS, AVERAGES, SHORT_RUNS)

_RECENT = 6
_DELAYS_OF_S = 30.0


@dataclass
class Results:
    """The latest of everything, by sensor where it belongs to one."""

    values: dict[str, dict[str, Any]] = field(default_factory=dict)
    averages: dict[str, dict[str, Any]] = field(default_factory=dict)
    alerts: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=_RECENT))
    short_runs: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=_RECENT))
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(TOPICS, 0))
    _delays: deque[tuple[float, float]] = field(default_factory=deque)
    """When each measurement of the last while came back with its unit, and after how long."""

    def take(self, topic: str, key: str, value: dict[str, Any], measured_ms: float) -> None:
        """Note one record."""
        self.counts[topic] += 1
        if topic == ALERTS:
            self.alerts.append(value)
        elif topic == SHORT_RUNS:
            self.short_runs.append(value)
        elif topic == AVERAGES:
            self.averages[key] = value
        else:
            self.values[key] = value
            now = time.monotonic()
            self._delays.append((now, time.time() * 1000 - measured_ms))
            while self._delays[0][0] < now - _DELAYS_OF_S:
                self._delays.popleft()

    def delays_ms(self) -> list[float]:
        """Return how long the measurements of the last half minute took, the fastest first.

        That is from the measurement until it arrived here with its unit.
        """
        return sorted(delay_ms for _, delay_ms in self._delays)


class ResultReader:
    """Polls the output topics; only what transactions have committed comes out."""

    def __init__(self, bootstrap_servers: str) -> None:
        self.results = Results()
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap_servers,
                "group.id": "plant-view",
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
            }
        )
        self._consumer.subscribe(list(TOPICS))

    def poll(self, on_record: Callable[[str, dict[str, Any]], None]) -> None:
        """Take what has arrived within a tenth of a second."""
        for message in self._consumer.consume(500, timeout=0.1):
            error = message.error()
            if error is not None:
                if error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001 - its public name
                    raise RuntimeError(f"reading the results failed: {error}")
                continue
            topic, data = str(message.topic()), message.value()
            if data is None:
                continue
            value = json.loads(data)
            key = (message.key() or b"").decode("utf-8", "replace")
            self.results.take(topic, key, value, message.timestamp()[1])
            on_record(topic, value)

    def close(self) -> None:
        """Leave."""
        self._consumer.close()
