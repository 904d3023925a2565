"""A transactional producer over the raw client: every request, one at a time, in any version."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from kafka.record import MemoryRecordsBuilder
from kio.schema.errors import ErrorCode
from tests.integration.raw_requests import TOPIC_ID_PRODUCE, Topic, produce_body
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tests.integration.raw_client import RawClient

READ_COMMITTED = 1
TRY_AGAIN = (
    ErrorCode.coordinator_load_in_progress,
    ErrorCode.coordinator_not_available,
    ErrorCode.not_coordinator,
    ErrorCode.concurrent_transactions,
)
PRODUCE_AGAIN = (
    ErrorCode.not_enough_replicas,
    ErrorCode.not_leader_or_follower,
    ErrorCode.concurrent_transactions,
)
NEW_CLIENT = 12
"""From this version of Produce on, the broker adds partitions to the transaction itself."""
OLD_CLIENT = 11


def is_final(answer: Any) -> bool:
    """Whether an answer is one: not that the coordinator cannot give it yet."""
    return answer.error_code not in TRY_AGAIN


def batch_of(
    values: Iterable[bytes],
    *,
    producer_id: int,
    epoch: int,
    sequence: int,
    transactional: bool = False,
    timestamp: int | None = None,
) -> bytes:
    builder = MemoryRecordsBuilder(
        magic=2,
        compression_type=0,
        batch_size=1 << 31,
        transactional=transactional,
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=sequence,
    )
    if timestamp is None:
        timestamp = time.time_ns() // 1_000_000
    for value in values:
        assert builder.append(timestamp=timestamp, key=None, value=value, headers=[]) is not None
    builder.close()
    return bytes(builder.buffer())


class RawProducer:
    """Counts sequences as a client does; what it sends is up to the test."""

    def __init__(self, client: RawClient, transactional_id: str | None = None) -> None:
        self.client = client
        self.transactional_id = transactional_id
        self.producer_id = -1
        self.epoch = -1
        self.sequences: dict[tuple[str, int], int] = {}

    def init(
        self,
        version: int = 5,
        *,
        timeout_ms: int = 60_000,
        expected: tuple[int, int] = (-1, -1),
    ) -> Any:
        """Ask for an id, again and again while the broker says that it cannot answer yet."""

        def ask() -> Any:
            if self.transactional_id is not None:
                self._find_coordinator()
            return self.client.call(
                "init_producer_id",
                version,
                transactional_id=self.transactional_id,
                transaction_timeout=timeout_ms,
                producer_id=expected[0],
                producer_epoch=expected[1],
            )

        answer = wait_for(ask, until=is_final)
        if answer.error_code is ErrorCode.none:
            self.take(answer)
        return answer

    def take(self, answer: Any) -> None:
        """Go on as the producer that an answer names."""
        if (answer.producer_id, answer.producer_epoch) != (self.producer_id, self.epoch):
            self.producer_id, self.epoch = answer.producer_id, answer.producer_epoch
            self.sequences.clear()

    def send(
        self,
        topic: Topic,
        *values: bytes,
        partition: int = 0,
        sequence: int | None = None,
        epoch: int | None = None,
        version: int = NEW_CLIENT,
    ) -> Any:
        """Produce one batch; the answer of its partition."""
        place = (topic.name, partition)
        if sequence is None:
            sequence = self.sequences.get(place, 0)
        batch = batch_of(
            values,
            producer_id=self.producer_id,
            epoch=self.epoch if epoch is None else epoch,
            sequence=sequence,
            transactional=self.transactional_id is not None,
        )
        body = produce_body(topic, batch, partition) | {"transactional_id": self.transactional_id}

        def ask() -> Any:
            (topic_answer,) = self.client.call("produce", version, **body).responses
            if version >= TOPIC_ID_PRODUCE:
                assert topic_answer.topic_id == topic.id
            (partition_answer,) = topic_answer.partition_responses
            return partition_answer

        answer = wait_for(ask, until=lambda told: told.error_code not in PRODUCE_AGAIN)
        if answer.error_code is ErrorCode.none:
            self.sequences[place] = sequence + len(values)
        return answer

    def add_partitions(
        self, partitions: Mapping[str, list[int]], version: int = 3, **changes: Any
    ) -> dict[tuple[str, int], ErrorCode]:
        """AddPartitionsToTxn; the error of each partition."""
        topics = [{"name": name, "partitions": list(p)} for name, p in partitions.items()]
        who = {"transactional_id": self.transactional_id} | self._producer() | changes
        if version >= 4:
            answer = self.client.call(
                "add_partitions_to_txn", version, transactions=[who | {"topics": topics}]
            )
            assert answer.error_code is ErrorCode.none
            (result,) = answer.results_by_transaction
            results = result.topic_results
        else:
            old = {f"v3_and_below_{name}": value for name, value in who.items()}
            results = wait_for(
                lambda: (
                    self.client.call(
                        "add_partitions_to_txn", version, **old, v3_and_below_topics=topics
                    ).results_by_topic_v3_and_below
                ),
                until=lambda found: (
                    found[0].results_by_partition[0].partition_error_code not in TRY_AGAIN
                ),
            )
        return {
            (topic.name, partition.partition_index): partition.partition_error_code
            for topic in results
            for partition in topic.results_by_partition
        }

    def end(self, *, committed: bool, version: int = 5, **changes: Any) -> Any:
        """EndTxn; with version 5 the producer goes on with the epoch of the answer."""
        answer = self.client.call(
            "end_txn",
            version,
            transactional_id=self.transactional_id,
            committed=committed,
            **(self._producer() | changes),
        )
        if answer.error_code is ErrorCode.none and version >= 5:
            self.take(answer)
        return answer

    def call(self, api: str, version: int, **body: Any) -> Any:
        """Any other request on behalf of the producer."""
        who = {"transactional_id": self.transactional_id} | self._producer()
        return self.client.call(api, version, **(who | body))

    def _producer(self) -> dict[str, int]:
        return {"producer_id": self.producer_id, "producer_epoch": self.epoch}

    def _find_coordinator(self) -> None:
        def ask() -> Any:
            (coordinator,) = self.client.call(
                "find_coordinator", 4, key_type=1, coordinator_keys=[self.transactional_id]
            ).coordinators
            return coordinator

        found = wait_for(ask, until=is_final)
        assert found.error_code is ErrorCode.none, found
