"""The balance of each account, out of all that ever happened to it.

    headwater run examples/bank/program.py

An account's events are in one partition and are taken in their order, so that the balance is what
a chronological reduce makes of them. Each change of a balance is a snapshot: it says which event it
follows, and the topic of snapshots is compacted to the last one of each account.
"""

from typing import Any

from headwater.streams import App, count, max, sum

EVENTS = "account-events"

SNAPSHOTS = "bank-balances-changelog"


def bank(**settings: Any) -> App:
    """Return the program; whoever wants to look its balances up makes one, too."""
    app = App("bank", guarantee="exactly_once", **settings)
    events = app.stream(EVENTS, value_type="type string, amount bigint")
    changes = events.map_values(
        signed="CASE type WHEN 'deposited' THEN amount WHEN 'withdrawn' THEN -amount ELSE 0 END",
        place="offset",
    )
    balances = changes.group_by_key().aggregate(
        balance=sum("signed"), events=count(), version=max("place")
    )
    balances.store("balances")
    return app


app = bank()
