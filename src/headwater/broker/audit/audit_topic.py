"""The audit log as a topic: one record an event, whose value is the line of the file."""

from __future__ import annotations

import logging
from time import time_ns
from typing import TYPE_CHECKING

from headwater.log.errors import LogError
from headwater.log.log import AppendOrigin
from headwater.log.rate_limited_logger import RateLimitedLogger
from headwater.log.records.record import Record, encode_batch
from headwater.protocol.errors import KafkaError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.broker.broker import Broker

_failures = RateLimitedLogger(logging.getLogger("headwater.audit"))
_MOST_IN_A_BATCH = 500


class AuditTopic:
    """Appends to the first partition of a topic, which it makes if there is none."""

    def __init__(self, broker: Broker, name: str) -> None:
        self._broker = broker
        self._name = name

    async def write(self, lines: Sequence[bytes]) -> None:
        """Append lines; what cannot be stored is logged and lost."""
        try:
            if self._name not in self._broker.topics.by_name:
                await self._broker.topics.changes.run(self._create)
            for start in range(0, len(lines), _MOST_IN_A_BATCH):
                self._append(lines[start : start + _MOST_IN_A_BATCH])
        except (KafkaError, LogError, KeyError) as failure:
            _failures.error(
                type(failure), "the audit topic %s cannot be written: %s", self._name, failure
            )

    async def _create(self) -> None:
        if self._name not in self._broker.topics.by_name:
            await self._broker.topics.create_internal(self._name)

    def _append(self, lines: Sequence[bytes]) -> None:
        partition = self._broker.topics.by_name[self._name].partitions[0]
        now_ms = time_ns() // 1_000_000
        records = [
            Record(number, now_ms, None, line.rstrip(b"\n")) for number, line in enumerate(lines)
        ]
        batch = memoryview(encode_batch(records))
        info = partition.append(batch, now_ms, AppendOrigin.COORDINATOR)
        if self._broker.fsync:
            self._broker.commits.request(partition)
        else:
            partition.advance(info.end)
