"""The till: books sales over HTTP, each an event of raw JSON.

python -m examples.sales.till --port 9080
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click
import msgspec
from confluent_kafka import KafkaException, Producer
from examples.sales.program import SALES
from examples.serving import options

from headwater.clients import ClusterAccess
from headwater.http.answers import Reply, answer
from headwater.http.app import App, call_handler
from headwater.http.errors import HttpError
from headwater.http.interface import Interface
from headwater.http.metrics import RequestMetrics
from headwater.http.routes import Route
from headwater.http.service_process import run

if TYPE_CHECKING:
    from headwater.http.request import Request

_WRITTEN_WITHIN_S = 30.0


class Sale(msgspec.Struct, forbid_unknown_fields=True):
    """What was sold, by whom; the price is of one piece, in cents."""

    product: str
    salesman: str
    quantity: int
    price: int
    at: datetime = msgspec.field(default_factory=lambda: datetime.now(UTC))

    def __post_init__(self) -> None:
        if self.quantity <= 0 or self.price < 0:
            raise ValueError("a sale is of one or more pieces, at a price of 0 or more")
        if self.at.tzinfo is None:
            raise ValueError("at needs a time zone, as 2026-01-31T12:00:00Z")


@click.command()
@options
def main(bootstrap_server: str, port: int) -> None:
    """Book sales."""
    raise SystemExit(run(lambda _: Till(bootstrap_server), "127.0.0.1", port))


class Till:
    """Answers when a sale is in the topic, and not before; any number of tills may book."""

    title = "till"

    def __init__(self, servers: str) -> None:
        self._producer = Producer({**ClusterAccess(servers).producer(), "enable.idempotence": True})
        self._booked = 0
        self.app = App(_INTERFACE, call_handler(self), RequestMetrics("till"))

    async def start(self) -> None:
        """There is nothing to read."""

    async def stop(self) -> None:
        """There is nothing to keep: what was answered is written."""

    def summary(self) -> str:
        """Say what it has done."""
        return f"{self._booked} sales"

    async def post_sale(self, request: Request) -> Reply:
        """Book a sale."""
        sale = request.decode(Sale)
        failure = await asyncio.to_thread(self._book, sale)
        if failure is not None:
            raise HttpError(503, 503, f"The sale may not be booked: {failure}")
        self._booked += 1
        return answer(sale, 201)

    def _book(self, sale: Sale) -> str | None:
        told: list[str | None] = []
        try:
            self._producer.produce(
                SALES,
                msgspec.json.encode(sale),
                sale.product,
                on_delivery=lambda error, _: told.append(None if error is None else str(error)),
            )
        except (KafkaException, BufferError) as failure:
            return str(failure)
        self._producer.flush(_WRITTEN_WITHIN_S)
        return told[0] if told else "the broker does not answer"


_INTERFACE: Interface[Route] = Interface(
    "Till",
    [
        Route(
            "POST",
            "/sales",
            Till.post_sale,
            "Book a sale",
            "Sale",
            body="Sale",
            errors=(503,),
            status=201,
        )
    ],
)

if __name__ == "__main__":
    main()
