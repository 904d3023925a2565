"""A company that takes orders: services that know each other by their events alone.

python -m examples.orders
"""

from __future__ import annotations

import json
import math
import random
import time
import uuid
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click
from confluent_kafka import Producer
from examples.orders.company import Company
from examples.orders.program import DELIVERIES
from examples.serving import ask
from examples.stage import StoppedError, stage

from headwater.clients import ClusterAccess

if TYPE_CHECKING:
    from examples.stage import Stage

CUSTOMERS = ("ann", "bob", "eve")
PRICES = {"tent": 249_00, "lamp": 19_50, "stove": 89_00}
_WRITTEN_WITHIN_S = 10.0


@click.command()
@click.option("--seconds", type=click.FloatRange(min=0), help="Stop by itself after so long.")
def main(seconds: float | None) -> None:
    """Take orders until Ctrl-C."""
    try:
        with stage("orders") as platform, closing(Company(platform)) as company:
            deadline = time.monotonic() + (math.inf if seconds is None else seconds)
            deliver(platform.servers, dict.fromkeys(PRICES, 40))
            click.echo(f"orders  {company.orders_url}\nsearch  {company.search_url}?q=tent")
            for name, service in company.running.items():
                click.echo(f"{name:6}  process {service.child.pid}")
            click.echo("The checks answer when Spark has started. Ctrl-C ends it.\n")
            _serve(platform, company, deadline)
    except StoppedError:
        return


def deliver(servers: str, delivered: dict[str, int]) -> None:
    """Let the warehouse say what came in."""
    producer = Producer(ClusterAccess(servers).producer())
    for product, quantity in delivered.items():
        producer.produce(
            DELIVERIES, json.dumps({"product": product, "quantity": quantity}), product
        )
    producer.flush(_WRITTEN_WITHIN_S)


def _serve(platform: Stage, company: Company, deadline: float) -> None:
    waiting: dict[str, dict[str, Any]] = {}
    while not platform.stop.wait(0.3) and time.monotonic() < deadline:
        for name in company.keep_running():
            click.echo(f"{name} has ended, and is started again")
        new = _some_order()
        waiting[new["id"]] = new
        for name, order in list(waiting.items()):
            state = ask(f"{company.orders_url}/{name}") or ask(company.orders_url, order)
            if state is not None and state["state"] != "CREATED":
                del waiting[name]
                told = f"{state['customer']} wants {state['quantity']} {state['product']}"
                click.echo(f"{told}: {' '.join([state['state'], *state['failed']])}")


def _some_order() -> dict[str, Any]:
    product = random.choice(list(PRICES))
    return {
        "id": str(uuid.uuid4()),
        "customer": random.choice(CUSTOMERS),
        "product": product,
        "quantity": random.choice((0, 1, 1, 2, 3)),
        "price": PRICES[product],
    }


if __name__ == "__main__":
    main()
