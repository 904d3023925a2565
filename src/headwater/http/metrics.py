"""What every service counts of its requests, in Prometheus' format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.http.routes import Route

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_BUCKETS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10)


class RequestMetrics:
    """Counts of requests; a service registers what else it has to show with `registry`."""

    def __init__(self, prefix: str) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            f"{prefix}_requests",
            "Requests by route and status.",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self._seconds = Histogram(
            f"{prefix}_request_seconds",
            "How long requests took.",
            ("method", "route"),
            registry=self.registry,
            buckets=_BUCKETS,
        )
        # Looking up labels costs more than counting.
        self._children: dict[
            tuple[str, str, int], tuple[Callable[[], None], Callable[[float], None]]
        ] = {}

    def count(self, route: Route | None, status: int, seconds: float) -> None:
        """Count a request."""
        method, path = ("other", "other") if route is None else (route.method, route.path)
        key = (method, path, status)
        children = self._children.get(key)
        if children is None:
            children = self._children[key] = (
                self._requests.labels(method, path, str(status)).inc,
                self._seconds.labels(method, path).observe,
            )
        children[0]()
        children[1](seconds)

    def text(self) -> bytes:
        """Return all of it."""
        return generate_latest(self.registry)
