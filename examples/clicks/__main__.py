"""A web shop's clicks, logs and payments, with the program that watches them.

python -m examples.clicks
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

import click
from examples.show import Record, show

if TYPE_CHECKING:
    from collections.abc import Iterator

LEVELS = ("Silver", "Gold", "Platinum")
USERS = {f"user-{number}": LEVELS[number % 3] for number in range(12)}
STOLEN = "4000-0000-0000-0007"


@click.command()
@click.option("--seconds", type=click.FloatRange(min=0), help="Stop by itself after so long.")
def main(seconds: float | None) -> None:
    """Show possible fraud, errors of each minute and what the best customers do, until Ctrl-C."""
    show(
        Path(__file__).with_name("program.py"),
        inputs=("authorization_attempts", "monitoring_stream", "clickstream", "users"),
        outputs=("possible_fraud", "error_counts", "vip_users"),
        first=[("users", user, {"user_id": user, "level": USERS[user]}) for user in USERS],
        then=traffic(random.Random()),
        every_s=0.1,
        seconds=seconds,
    )


def traffic(chance: random.Random) -> Iterator[Record]:
    """Return what happens in the shop, one thing after the other, for ever."""
    while True:
        user = chance.choice(list(USERS))
        page = f"/product/{chance.randrange(50)}"
        yield "clickstream", user, {"userid": user, "page": page, "action": "view"}
        kind = chance.choice(("INFO", "INFO", "ERROR"))
        code = f"E{chance.randrange(3)}" if kind == "ERROR" else None
        yield "monitoring_stream", "web-1", {"type": kind, "error_code": code}
        card = chance.choice((STOLEN, f"4000-0000-0000-{chance.randrange(1000, 9999)}"))
        amount = round(chance.uniform(1, 500), 2)
        yield "authorization_attempts", card, {"card_number": card, "amount": amount}


if __name__ == "__main__":
    main()
