"""The progress of jobs as Prometheus metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from headwater.http.app import App, call_handler
from headwater.http.background import serve_in_background
from headwater.http.interface import Interface
from headwater.http.metrics import RequestMetrics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from headwater.http.routes import Route
    from headwater.spark.jobs.progress import QueryProgress

_LABELS = ("app", "query")

# Name, what it says, the attribute of QueryProgress, and what to multiply that with.
_COUNTERS = (
    ("headwater_query_rows", "Rows read since the start.", "rows"),
    ("headwater_query_late_rows", "Rows dropped since their window had closed.", "late_rows"),
    ("headwater_query_restarts", "How often the query was started again.", "restarts"),
)
_GAUGES = (
    ("headwater_query_rows_per_second", "Rows per second in the last batch.", "rows_per_second", 1),
    ("headwater_query_batch_seconds", "How long the last batch took.", "batch_ms", 0.001),
    ("headwater_query_lag_records", "Records that are not read yet.", "lag", 1),
    ("headwater_query_state_rows", "Rows in state.", "state_rows", 1),
    ("headwater_query_state_bytes", "Memory that state takes.", "state_bytes", 1),
)
_INTERFACE: Interface[Route] = Interface("Headwater pipeline", [])
_RUNNING = ("running", "catching up", "real-time")


class JobMetrics(Collector):
    """Collects from running jobs whenever it is asked; `progress` has the queries of each app."""

    def __init__(self, progress: Callable[[], Mapping[str, Sequence[QueryProgress]]]) -> None:
        self._progress = progress

    def collect(self) -> Iterable[Metric]:
        """Return all metrics of all queries."""
        queries = [(app, query) for app, every in self._progress().items() for query in every]
        up = GaugeMetricFamily("headwater_query_up", "Whether the query runs.", labels=_LABELS)
        for app, query in queries:
            up.add_metric((app, query.name), float(query.state in _RUNNING))
        yield up
        for name, text, attribute in _COUNTERS:
            counter = CounterMetricFamily(name, text, labels=_LABELS)
            for app, query in queries:
                counter.add_metric((app, query.name), getattr(query, attribute))
            yield counter
        for name, text, attribute, unit in _GAUGES:
            gauge = GaugeMetricFamily(name, text, labels=_LABELS)
            for app, query in queries:
                # Nothing rather than a lag of zero, as long as nobody knows it.
                if not query.awaits_report:
                    gauge.add_metric((app, query.name), getattr(query, attribute) * unit)
            yield gauge


def serve_metrics(
    progress: Callable[[], Mapping[str, Sequence[QueryProgress]]],
    port: int,
    host: str = "127.0.0.1",
) -> int:
    """Serve the metrics of jobs over HTTP as long as the process lives; returns the port.

    Raises ListenError.
    """
    metrics = RequestMetrics("headwater_pipeline")
    metrics.registry.register(JobMetrics(progress))
    app = App(_INTERFACE, call_handler(None), metrics)
    return serve_in_background(app, host, port, "metrics")
