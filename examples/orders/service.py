"""The orders service: orders over HTTP.

python -m examples.orders.service --port 9080
"""

from __future__ import annotations

import asyncio
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING

import click
from confluent_kafka import KafkaException
from examples.orders.book import ConflictError, OrderBook
from examples.orders.order import NewOrder, Order
from examples.serving import Follower, give_up, options

from headwater.http.answers import answer
from headwater.http.app import App, call_handler
from headwater.http.errors import HttpError, StartError
from headwater.http.interface import Interface
from headwater.http.metrics import RequestMetrics
from headwater.http.routes import Parameter, Route
from headwater.http.service_process import run

if TYPE_CHECKING:
    from collections.abc import Generator

    from headwater.http.answers import Reply
    from headwater.http.request import Request

_MOST_WAIT_MS = 60_000


@click.command()
@options
def main(bootstrap_server: str, port: int) -> None:
    """Take orders, and tell what became of them."""
    raise SystemExit(run(lambda _: OrdersService(bootstrap_server), "127.0.0.1", port))


class OrdersService:
    """Answers for the book of orders, and takes outcomes over beside that.

    What it cannot write ends it: whoever starts it again finds in the topic what was written.
    """

    title = "orders service"

    def __init__(self, servers: str) -> None:
        self._servers = servers
        self._settling = Follower("settle")
        self._settled = asyncio.Condition()
        self.app = App(_INTERFACE, call_handler(self), RequestMetrics("orders"))

    async def start(self) -> None:
        """Read all orders."""
        self._loop = asyncio.get_running_loop()
        try:
            self._book = await asyncio.to_thread(OrderBook, self._servers)
        except (KafkaException, TimeoutError, RuntimeError) as failure:
            raise StartError(f"the orders on {self._servers} cannot be had: {failure}") from failure
        self._settling.start(self._settle())

    async def stop(self) -> None:
        """Leave; what is written stays."""
        await self._settling.stop()

    def summary(self) -> str:
        """Say how many orders there are."""
        return f"{len(self._book.orders)} orders"

    async def post_order(self, request: Request) -> Reply:
        """Place an order; one that is placed again is the same."""
        new = request.decode(NewOrder)
        order = Order(
            id=new.id or str(uuid.uuid4()),
            customer=new.customer,
            product=new.product,
            quantity=new.quantity,
            price=new.price,
        )
        try:
            placed = await asyncio.to_thread(self._book.place, order)
        except ConflictError as failure:
            raise HttpError(409, 409, str(failure)) from failure
        except KafkaException as failure:
            give_up(failure)
            told = f"nobody knows whether {order.id} was placed: place it again, with this id"
            raise HttpError(503, 503, told) from failure
        return answer(placed, 201 if placed is order else 200)

    async def get_order(self, request: Request) -> Reply:
        """Return an order, at once or when it is final."""
        name = request.parameters["id"]
        if name not in self._book.orders:
            raise HttpError(404, 404, f"There is no order {name!r}")
        wait_ms = min(request.number("wait_ms", 0), _MOST_WAIT_MS)
        if wait_ms > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_ms / 1000), self._settled:
                    await self._settled.wait_for(lambda: self._book.orders[name].is_final)
        return answer(self._book.orders[name])

    def _settle(self) -> Generator[int]:
        for settled in self._book.settle():
            if settled:
                asyncio.run_coroutine_threadsafe(self._tell(), self._loop)
            yield settled

    async def _tell(self) -> None:
        async with self._settled:
            self._settled.notify_all()


_INTERFACE: Interface[Route] = Interface(
    "Orders",
    [
        Route(
            "POST",
            "/orders",
            OrdersService.post_order,
            "Place an order",
            "Order",
            body="NewOrder",
            errors=(409, 503),
            status=201,
        ),
        Route(
            "GET",
            "/orders/{id}",
            OrdersService.get_order,
            "See an order",
            "Order",
            query=(Parameter("wait_ms", "How long to wait for its final state.", "integer"),),
            errors=(404,),
            changes=True,
        ),
    ],
)

if __name__ == "__main__":
    main()
