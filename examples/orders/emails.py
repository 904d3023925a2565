"""The e-mail service: tells customers what became of their orders.

    python -m examples.orders.emails

A mail is an event in the topic of mails, the outbox, written in one transaction with the place up
to which orders were taken: one mail for each order that became final, whenever this is killed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from examples.event_log import EventLog, EventWriter
from examples.orders.order import Order
from examples.orders.program import ORDERS
from examples.serving import broker

if TYPE_CHECKING:
    from collections.abc import Generator

EMAILS = "order-emails"

_NAME = "order-emails"


@click.command()
@broker
def main(bootstrap_server: str) -> None:
    """Write mails for ever."""
    for _ in write_emails(bootstrap_server):
        pass


def write_emails(servers: str) -> Generator[int]:
    """Write a mail for each order that becomes final, for ever; gives how many these are."""
    writer = EventWriter(servers, EMAILS, _NAME)
    orders = EventLog(servers, ORDERS, _NAME)
    try:
        for some in orders.follow(orders.taken()):
            news = [Order.of(each.event) for each in some]
            mails = [(order.id, email(order)) for order in news if order.is_final]
            if some:
                writer.write_all(mails, orders.taken_up_to(some[-1].offset + 1))
            yield len(mails)
    finally:
        orders.close()


def email(order: Order) -> dict[str, Any]:
    """Return what a customer is told.

    >>> email(Order(id="7", customer="ann", product="tent", quantity=1, price=1, state="VALIDATED"))
    {'to': 'ann', 'subject': 'Your order 7', 'text': 'Your order of 1 tent is on its way.'}
    """
    what = f"Your order of {order.quantity} {order.product}"
    failed = ", ".join(order.failed)
    text = f"{what} is on its way." if not failed else f"{what} was refused: {failed}."
    return {"to": order.customer, "subject": f"Your order {order.id}", "text": text}


if __name__ == "__main__":
    main()
