"""The book of orders: all that there are, out of the topic that only its keeper writes."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from examples.event_log import EventLog, EventWriter
from examples.orders.order import Order
from examples.orders.program import ORDERS, OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from examples.event_log import Recorded

logger = logging.getLogger("orders")

NAME = "orders-service"


class ConflictError(Exception):
    """There is an order of this name, for something else."""


class OrderBook:
    """Writes orders, alone: a second book ends the first.

    It keeps nothing of its own. A new one fences the one before, so that this writes no more, and
    then reads what was written.
    """

    def __init__(self, servers: str) -> None:
        self._writer = EventWriter(servers, ORDERS, NAME)
        self._servers = servers
        self._lock = threading.Lock()
        self.orders: dict[str, Order] = {}
        log = EventLog(servers, ORDERS, NAME)
        for recorded in log.replay():
            self.orders[recorded.key] = Order.of(recorded.event)
        log.close()

    def place(self, order: Order) -> Order:
        """Let an order be created, or return it if it is known; raises ConflictError."""
        with self._lock:
            known = self.orders.get(order.id)
            if known is None:
                self._writer.write(order.id, order.event())
                self.orders[order.id] = order
                return order
        if not known.wants_what(order):
            raise ConflictError(f"there is an order {order.id!r} already, for something else")
        return known

    def settle(self) -> Generator[int]:
        """Take outcomes over as they come, for ever; gives how many orders became final."""
        outcomes = EventLog(self._servers, OUTCOMES, NAME)
        try:
            for some in outcomes.follow(outcomes.taken()):
                settled: dict[str, Order] = {}
                if some:
                    with self._lock:
                        settled = self._settled(some)
                        events = [(name, order.event()) for name, order in settled.items()]
                        self._writer.write_all(events, outcomes.taken_up_to(some[-1].offset + 1))
                        self.orders.update(settled)
                yield len(settled)
        finally:
            outcomes.close()

    def _settled(self, outcomes: Iterable[Recorded]) -> dict[str, Order]:
        settled: dict[str, Order] = {}
        for outcome in outcomes:
            order = self.orders.get(outcome.key)
            if order is None:
                logger.warning("an outcome of an order that nobody placed: %s", outcome.key)
            elif not order.is_final and outcome.key not in settled:
                settled[outcome.key] = order.settled(outcome.event)
        return settled
