"""The write side: takes commands, checks them against an account's state, and writes events."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from confluent_kafka import Consumer, Producer, TopicPartition
from examples.bank.account import Account, Event
from examples.bank.program import EVENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.stores import KeyValueStore

PARTITION = 0
_WITHIN_S = 30.0


class Teller:
    """The only one who writes events: a second one with the same name ends the first.

    An account is its last snapshot and the events since; without a snapshot it is all events.
    """

    def __init__(self, servers: str, snapshots: KeyValueStore | None = None) -> None:
        self._snapshots = snapshots
        self._producer = Producer(
            {"bootstrap.servers": servers, "transactional.id": "bank-teller", "linger.ms": 0}
        )
        self._producer.init_transactions(_WITHIN_S)
        self._consumer = Consumer(
            {
                "bootstrap.servers": servers,
                "group.id": "bank-teller",
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
            }
        )
        self.replayed = 0
        """How many events it has read to know the accounts."""

    def tell(self, account: str, event: Event) -> Account:
        """Let something happen to an account; raises RefusedError, and nothing has happened."""
        state = self.account(account)
        state.check(event)
        self._producer.begin_transaction()
        self._producer.produce(EVENTS, json.dumps(event._asdict()), account, partition=PARTITION)
        self._producer.commit_transaction(_WITHIN_S)
        return self.account(account)

    def account(self, account: str, until_ms: int | None = None) -> Account:
        """Return an account as it is, or as it was at a time: the events up to it, replayed."""
        state = Account()
        if self._snapshots is not None and until_ms is None:
            snapshot = self._snapshots.get(account, stale=True)
            state = Account(**snapshot) if snapshot else state
        for key, event, offset, written_ms in self._events(state.version + 1):
            if until_ms is not None and written_ms > until_ms:
                break
            if key == account:
                state.apply(event, offset)
        return state

    def close(self) -> None:
        """Leave."""
        self._consumer.close()

    def _events(self, offset: int) -> Iterator[tuple[str, Event, int, int]]:
        self._consumer.assign([TopicPartition(EVENTS, PARTITION, offset)])
        while True:
            message = self._consumer.poll(_WITHIN_S)
            if message is None:
                raise TimeoutError(f"nothing was read from {EVENTS} within {_WITHIN_S:.0f} s")
            if message.error() is not None:
                if message.error().code() == -191:  # the end of the partition
                    return
                raise RuntimeError(f"reading {EVENTS} failed: {message.error()}")
            self.replayed += 1
            key, value = (message.key() or b"").decode(), json.loads(message.value() or b"{}")
            yield key, Event(**value), message.offset() or 0, message.timestamp()[1]
