"""What the worker counts, in Prometheus' format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from headwater.connect.worker.status_state import TaskState
from headwater.http.metrics import RequestMetrics

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client.metrics_core import Metric

    from headwater.connect.worker.herder import Herder

_PREFIX = "headwater_connect"
_COUNTED = {
    "rows_read": "Rows that connectors have read.",
    "rows_written": "Rows that connectors have written.",
    "rows_filtered": "Rows that transforms took out.",
    "rows_failed": "Rows that could not be converted or transformed, and were left out.",
    "batches": "Batches that connectors have written.",
    "restarts": "How often connectors were opened anew after a failure.",
}


class Metrics(RequestMetrics):
    """Counts of requests, and what the connectors that run here have done."""

    def __init__(self, herder: Herder, stalled_after_s: float) -> None:
        super().__init__(_PREFIX)
        self.registry.register(_Running(herder, stalled_after_s))


class _Running:
    def __init__(self, herder: Herder, stalled_after_s: float) -> None:
        self._herder = herder
        self._stalled_after_s = stalled_after_s

    def collect(self) -> Iterator[Metric]:
        """Return the counts of all that runs."""
        runs = self._herder.runs()
        for name, text in _COUNTED.items():
            counter = CounterMetricFamily(f"{_PREFIX}_{name}", text, labels=("connector",))
            for run in runs:
                counter.add_metric((run.name,), getattr(run.progress, name))
            yield counter
        lag = GaugeMetricFamily(f"{_PREFIX}_lag", "Records still to write.", labels=("connector",))
        state = GaugeMetricFamily(
            f"{_PREFIX}_state", "1 for the state that a connector is in.",
            labels=("connector", "state"),
        )  # fmt: skip
        stalled = GaugeMetricFamily(
            f"{_PREFIX}_stalled", "Whether a batch takes far too long.", labels=("connector",)
        )
        for run in runs:
            lag.add_metric((run.name,), run.progress.lag)
            stalled.add_metric((run.name,), int(run.progress.is_stalled(self._stalled_after_s)))
            for each in TaskState:
                state.add_metric((run.name, str(each)), int(run.state is each))
        yield from (lag, state, stalled)
