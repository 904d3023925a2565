"""Writes the markers that end a transaction into its partitions, however long that takes."""

from __future__ import annotations

import asyncio
import logging
from time import time_ns
from typing import TYPE_CHECKING

from headwater.broker.topics.partition import Partition
from headwater.broker.topics.topic_names import CONSUMER_OFFSETS
from headwater.log.errors import (
    InvalidProducerEpoch,
    StorageError,
    TransactionCoordinatorFenced,
)
from headwater.log.log import AppendOrigin
from headwater.log.records.end_txn_marker import EndTxnMarker, encode_marker

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater.broker.broker import Broker
    from headwater.broker.transactions.metadata import ProducerIdAndEpoch, TopicPartition
    from headwater.log.log import LogPosition

logger = logging.getLogger("headwater.broker")

RETRY_S = 0.5


class MarkerWriter:
    """Ends transactions in the partitions of one broker."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    async def write(
        self,
        partitions: Iterable[TopicPartition],
        producer: ProducerIdAndEpoch,
        marker: EndTxnMarker,
    ) -> None:
        """Return when every partition has its marker, or is gone."""
        left = set(partitions)
        while left:
            left = await self._write_once(left, producer, marker)
            if left:
                await asyncio.sleep(RETRY_S)

    async def write_to(
        self, partition: Partition, producer: ProducerIdAndEpoch, marker: EndTxnMarker
    ) -> None:
        """Write one marker; raises LogError if the partition does not take it."""
        end = self._append(partition, producer, marker)
        if self._broker.fsync:
            await self._broker.commits.wait(partition)
        else:
            partition.advance(end)
        if partition.topic == CONSUMER_OFFSETS:
            self._broker.groups.transaction_ended(
                partition.index, producer.producer_id, committed=marker.committed
            )

    async def _write_once(
        self, wanted: set[TopicPartition], producer: ProducerIdAndEpoch, marker: EndTxnMarker
    ) -> set[TopicPartition]:
        """Write all markers at the same time and return the partitions that need another try."""
        found = {place: self._broker.topics.partition(*place) for place in wanted}
        outcomes = await asyncio.gather(
            *(
                self._try(partition, producer, marker)
                for partition in found.values()
                if isinstance(partition, Partition)
            )
        )
        places = [place for place, found in found.items() if isinstance(found, Partition)]
        return {place for place, done in zip(places, outcomes, strict=True) if not done}

    async def _try(
        self, partition: Partition, producer: ProducerIdAndEpoch, marker: EndTxnMarker
    ) -> bool:
        try:
            await self.write_to(partition, producer, marker)
        except (InvalidProducerEpoch, TransactionCoordinatorFenced) as error:
            # A later epoch was here, which is only possible once this transaction has ended.
            logger.warning("%s", error)
        except StorageError as error:
            if self._broker.topics.partition(partition.topic, partition.index) is not partition:
                return True
            logger.error(
                "the marker that ends a transaction of producer %d cannot be written to %s, "
                "which blocks its read_committed consumers; trying again: %s",
                producer.producer_id, partition.log.name, error,
            )  # fmt: skip
            return False
        return True

    def _append(
        self, partition: Partition, producer: ProducerIdAndEpoch, marker: EndTxnMarker
    ) -> LogPosition:
        now_ms = time_ns() // 1_000_000
        batch = encode_marker(
            marker,
            producer_id=producer.producer_id,
            producer_epoch=producer.epoch,
            timestamp=now_ms,
        )
        return partition.append(memoryview(batch), now_ms, AppendOrigin.COORDINATOR).end
