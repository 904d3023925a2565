"""An account as its events make it: what may happen to it, and what that does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

Kind = Literal["opened", "deposited", "withdrawn"]


class Event(NamedTuple):
    """Something that has happened; it is never changed, and never taken back."""

    type: Kind
    amount: int = 0


class RefusedError(Exception):
    """A command that would break a rule of the bank; nothing has happened."""


@dataclass
class Account:
    """What is known after so many events; `version` is the offset of the last one."""

    balance: int = 0
    events: int = 0
    version: int = -1

    def apply(self, event: Event, offset: int) -> None:
        """Let an event have happened."""
        self.balance += {"deposited": event.amount, "withdrawn": -event.amount}.get(event.type, 0)
        self.events += 1
        self.version = offset

    def check(self, event: Event) -> None:
        """Refuse an event that may not happen now; raises RefusedError."""
        if event.type == "opened" and self.events:
            raise RefusedError("the account is open already")
        if event.type != "opened" and not self.events:
            raise RefusedError("there is no such account; open it first")
        if event.type != "opened" and event.amount <= 0:
            raise RefusedError(f"{event.amount} is no amount")
        if event.type == "withdrawn" and event.amount > self.balance:
            raise RefusedError(f"there are {self.balance} in the account, not {event.amount}")
