"""The write side: takes commands, checks them against an account's state, and writes events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from examples.bank.account import Account, Event
from examples.bank.program import EVENTS
from examples.event_log import EventLog, EventWriter

if TYPE_CHECKING:
    from headwater.stores import KeyValueStore

NAME = "bank-teller"


class Teller:
    """Writes events, alone: a second teller ends the first.

    An account is its last snapshot and the events since; without a snapshot it is all events.
    """

    def __init__(self, servers: str, snapshots: KeyValueStore | None = None) -> None:
        self._snapshots = snapshots
        self._writer = EventWriter(servers, EVENTS, NAME)
        self.log = EventLog(servers, EVENTS, NAME)

    def tell(self, account: str, event: Event) -> Account:
        """Let something happen to an account; raises RefusedError, and nothing has happened."""
        self.account(account).check(event)
        self._writer.write(account, event._asdict())
        return self.account(account)

    def account(self, account: str, until_ms: int | None = None) -> Account:
        """Return an account as it is, or as it was at a time: the events up to it, replayed."""
        state = Account()
        if self._snapshots is not None and until_ms is None:
            snapshot = self._snapshots.get(account, stale=True)
            state = Account(**snapshot) if snapshot else state
        for recorded in self.log.replay(state.version + 1):
            if until_ms is not None and recorded.time_ms > until_ms:
                break
            if recorded.key == account:
                state.apply(Event(**recorded.event), recorded.offset)
        return state

    def close(self) -> None:
        """Leave."""
        self.log.close()
