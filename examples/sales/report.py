"""The report: which products and which salesmen sold most, over HTTP.

    python -m examples.sales.report --port 9081

It knows neither the till nor the program, only the events that they write.
"""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import click
from confluent_kafka import KafkaException
from examples.event_log import EventLog
from examples.sales.program import MONTHS, PRODUCTS, SALESMEN
from examples.serving import options

from headwater.http.answers import Reply, answer
from headwater.http.app import App, call_handler
from headwater.http.errors import HttpError
from headwater.http.interface import Interface
from headwater.http.metrics import RequestMetrics
from headwater.http.routes import Parameter, Route
from headwater.http.service_process import run

if TYPE_CHECKING:
    from headwater.http.request import Request


@click.command()
@options
def main(bootstrap_server: str, port: int) -> None:
    """Tell who and what sold most."""
    raise SystemExit(run(lambda _: ReportService(bootstrap_server), "127.0.0.1", port))


class Report:
    """Tables out of topics: the last record of each key is its row."""

    def __init__(self, servers: str) -> None:
        self._logs = {
            topic: EventLog(servers, topic, "sales-report")
            for topic in (PRODUCTS, SALESMEN, MONTHS)
        }
        self._tables: dict[str, dict[str, dict[str, Any]]] = {topic: {} for topic in self._logs}
        self._next = dict.fromkeys(self._logs, 0)
        self._lock = threading.Lock()

    def top(self, topic: str, most: int) -> list[dict[str, Any]]:
        """Return the rows of most revenue, as of now."""
        rows = [{"name": name, **row} for name, row in self.table(topic).items()]
        return sorted(rows, key=lambda row: (-row["revenue"], row["name"]))[:most]

    def table(self, topic: str) -> dict[str, dict[str, Any]]:
        """Return all rows, by their keys in order, as of now."""
        with self._lock:
            table = self._tables[topic]
            for recorded in self._logs[topic].replay(self._next[topic]):
                table[recorded.key] = recorded.event
                self._next[topic] = recorded.offset + 1
            return dict(sorted(table.items()))

    def close(self) -> None:
        """Leave."""
        for log in self._logs.values():
            log.close()


class ReportService:
    """Answers out of the report."""

    title = "sales report"

    def __init__(self, servers: str) -> None:
        self._report = Report(servers)
        self.app = App(_INTERFACE, call_handler(self), RequestMetrics("report"))

    async def start(self) -> None:
        """The topics are read when somebody asks."""

    async def stop(self) -> None:
        """Leave."""
        self._report.close()

    def summary(self) -> str:
        """Say what it tells."""
        return "products, salesmen and months"

    async def get_report(self, request: Request) -> Reply:
        """Return the best of each, and all months."""
        most = request.number("top", 3)
        try:
            return answer(
                {
                    "products": await asyncio.to_thread(self._report.top, PRODUCTS, most),
                    "salesmen": await asyncio.to_thread(self._report.top, SALESMEN, most),
                    "months": await asyncio.to_thread(self._report.table, MONTHS),
                }
            )
        except (KafkaException, RuntimeError, TimeoutError) as failure:
            raise HttpError(503, 503, f"The topics cannot be read: {failure}") from failure


_INTERFACE: Interface[Route] = Interface(
    "Sales report",
    [
        Route(
            "GET",
            "/report",
            ReportService.get_report,
            "See what sold best",
            "Report",
            query=(Parameter("top", "How many of each, by default 3.", "integer"),),
            errors=(503,),
            changes=True,
        )
    ],
)

if __name__ == "__main__":
    main()
