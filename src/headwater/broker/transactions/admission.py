"""Lets the batches of a transaction into their partitions, which have to be part of it first.

Clients of before transaction version 2 have added the partitions themselves, which is checked.
For newer ones they are added here, and the batches of one producer keep their order meanwhile.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from headwater.broker.transactions.metadata import TRANSACTION_VERSION, ProducerIdAndEpoch
from headwater.log.records.batch import HEADER_SIZE, parse_header
from headwater.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.broker.broker import Broker
    from headwater.broker.requests.request import Response
    from headwater.broker.topics.partition import Partition
    from headwater.protocol.produce import ProduceRequest

    Answer: TypeAlias = "Response | Awaitable[Response | None] | None"

Refusals: TypeAlias = "dict[Partition, KafkaError]"
"""Why batches may not be appended to some of the partitions."""

_FIRST_THAT_ADDS_PARTITIONS = 12
_FIRST_WITH_ABORTABLE = 11
_TRY_AGAIN = frozenset(
    {
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    }
)


class _Newcomer(NamedTuple):
    """A batch that would be the first of its transaction in a partition."""

    partition: Partition
    producer: ProducerIdAndEpoch


def produce_in_transaction(
    broker: Broker, version: int, wanted: ProduceRequest, append: Callable[[Refusals], Answer]
) -> Answer:
    """Call `append` at once, or as soon as all partitions are part of the transaction."""
    transactional_id = wanted.transactional_id or ""
    newcomers = _newcomers(broker, wanted)
    if version < _FIRST_THAT_ADDS_PARTITIONS:
        return append(_verify(broker, version, transactional_id, newcomers))
    if not newcomers and not broker.transactions.has_queue(transactional_id):
        return append({})

    async def in_turn() -> Answer:
        # Those who came before may have added some of the partitions.
        return append(await _add(broker, version, transactional_id, _newcomers(broker, wanted)))

    try:
        return _answer(broker.transactions.in_turn(transactional_id, in_turn))
    except KafkaError as error:
        refusal = _as_producers_know_it(error, version)
        return append({each.partition: refusal for each in newcomers})


def admit(
    broker: Broker,
    partition: Partition,
    transactional_id: str,
    producer: ProducerIdAndEpoch,
) -> None:
    """Check a partition that the client added to its transaction itself; raises KafkaError."""
    if partition.log.producers.has_transaction(*producer):
        return
    if broker.config.boolean("transaction.partition.verification.enable"):
        place = (partition.topic, partition.index)
        broker.transactions.verify(transactional_id, producer, place)
    partition.log.producers.allow_transaction(*producer, numbered_from_zero=False)


def _newcomers(broker: Broker, wanted: ProduceRequest) -> list[_Newcomer]:
    found = []
    for data in wanted.topics:
        topic = data.name if data.name is not None else data.topic_id or b""
        for index, records in data.partitions:
            partition = broker.topics.partition(topic, index)
            if isinstance(partition, ErrorCode) or records is None or len(records) < HEADER_SIZE:
                continue
            header = parse_header(records)
            producer = ProducerIdAndEpoch(header.producer_id, header.producer_epoch)
            if header.is_transactional and not partition.log.producers.has_transaction(*producer):
                found.append(_Newcomer(partition, producer))
    return found


def _verify(
    broker: Broker, version: int, transactional_id: str, newcomers: list[_Newcomer]
) -> Refusals:
    refused: Refusals = {}
    for partition, producer in newcomers:
        try:
            admit(broker, partition, transactional_id, producer)
        except KafkaError as error:
            refused[partition] = _as_producers_know_it(error, version)
    return refused


async def _answer(turn: Awaitable[Answer]) -> Response | None:
    answer = await turn
    return await answer if isinstance(answer, Awaitable) else answer


async def _add(
    broker: Broker, version: int, transactional_id: str, newcomers: list[_Newcomer]
) -> Refusals:
    refused: Refusals = {}
    by_producer: dict[ProducerIdAndEpoch, list[Partition]] = {}
    for partition, producer in newcomers:
        by_producer.setdefault(producer, []).append(partition)
    for producer, partitions in by_producer.items():
        places = frozenset((partition.topic, partition.index) for partition in partitions)
        try:
            await broker.transactions.add_in_turn(
                transactional_id, producer, places, TRANSACTION_VERSION
            )
        except KafkaError as error:
            refused.update(dict.fromkeys(partitions, _as_producers_know_it(error, version)))
        else:
            for partition in partitions:
                partition.log.producers.allow_transaction(*producer, numbered_from_zero=True)
    return refused


def _as_producers_know_it(error: KafkaError, version: int) -> KafkaError:
    """Producers know fewer errors than those who speak to the coordinator."""
    code = error.code
    if code is ErrorCode.PRODUCER_FENCED:
        code = ErrorCode.INVALID_PRODUCER_EPOCH
    elif code is ErrorCode.TRANSACTION_ABORTABLE and version < _FIRST_WITH_ABORTABLE:
        code = ErrorCode.INVALID_TXN_STATE
    elif code in _TRY_AGAIN:
        code = ErrorCode.NOT_ENOUGH_REPLICAS
    return KafkaError(code, error.message)
