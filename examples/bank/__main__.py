"""A bank: a teller who writes events, balances as snapshots of them, and statements beside.

python -m examples.bank
"""

from __future__ import annotations

import math
import random
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click
from examples.bank.account import Event, RefusedError
from examples.bank.program import EVENTS, SNAPSHOTS, bank
from examples.bank.statements import Statements
from examples.bank.teller import Teller
from examples.stage import StoppedError, stage

if TYPE_CHECKING:
    from examples.stage import Stage

ACCOUNTS = ("ann", "bob", "eve")


@click.command()
@click.option("--seconds", type=click.FloatRange(min=0), help="Stop by itself after so long.")
def main(seconds: float | None) -> None:
    """Run a bank until Ctrl-C."""
    try:
        with stage("bank") as platform:
            platform.create_topics(EVENTS)
            platform.create_topics(SNAPSHOTS, config={"cleanup.policy": "compact"})
            with platform.program(Path(__file__).with_name("program.py")) as program:
                deadline = time.monotonic() + (math.inf if seconds is None else seconds)
                customers = _Customers(platform)
                while not platform.stop.wait(0.5) and time.monotonic() < deadline:
                    program.check()
                    customers.go_on()
                customers.close()
    except StoppedError:
        return


class _Customers:
    def __init__(self, platform: Stage) -> None:
        self._app = bank(
            bootstrap_servers=platform.servers, stores_dir=str(platform.data / "stores")
        )
        self._teller = Teller(platform.servers, self._app.store("balances"))
        self._statements = Statements(platform.servers, platform.data / "statements.db")
        for account in ACCOUNTS:
            self._teller.tell(account, Event("opened"))

    def go_on(self) -> None:
        """Let a customer come in, and say what the two sides know."""
        account, amount = random.choice(ACCOUNTS), random.randrange(1, 100)
        event = Event(random.choice(("deposited", "withdrawn")), amount)
        try:
            now = self._teller.tell(account, event)
        except RefusedError as failure:
            click.echo(f"{account}: {event.type} {amount} is refused: {failure}")
            return
        self._statements.catch_up()
        entries = len(self._statements.of(account))
        click.echo(
            f"{account}: {event.type} {amount}, so there are {now.balance}; {entries} entries"
        )

    def close(self) -> None:
        """Leave."""
        self._teller.close()
        self._statements.close()
        self._app.stores.close()


if __name__ == "__main__":
    main()
