"""Offsets of connectors as clients see and change them: of sources in a topic, of sinks' groups."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from headwater.connect.connectors.connector import ConnectorError, TopicPartition
from headwater.connect.worker.connectors import connector_type
from headwater.connect.worker.errors import state_failed
from headwater.connect.worker.offset_store import OffsetStore, OffsetStoreError
from headwater.connect.worker.sink_group import SinkGroup
from headwater.http.errors import bad_request

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from headwater.connect.worker.config import WorkerConfig

    PartitionOffset = tuple[Mapping[str, Any], Mapping[str, Any] | None]

_TOPIC, _PARTITION, _OFFSET = "kafka_topic", "kafka_partition", "kafka_offset"


class OffsetsOfConnectors:
    """Reads and changes offsets, in threads, as this happens rarely."""

    def __init__(self, config: WorkerConfig) -> None:
        self._config = config
        self._store = OffsetStore(config.client("offsets"), config.offsets.name)

    async def read(self, name: str, config: Mapping[str, str]) -> Sequence[PartitionOffset]:
        """Return a connector's offsets; raises HttpError."""
        if _is_sink(config):
            found = await self._with_group(name, SinkGroup.all)
            return [
                ({_TOPIC: each.topic, _PARTITION: each.partition}, {_OFFSET: offset})
                for each, offset in sorted(found.items())
            ]
        offsets = await _stored(lambda: self._store.of(name))
        return [(each.partition, each.offset) for each in offsets.all()]

    async def alter(
        self, name: str, config: Mapping[str, str], changes: Sequence[PartitionOffset]
    ) -> None:
        """Change some of a connector's offsets; raises HttpError."""
        if not changes:
            raise bad_request(
                "Partitions / offsets need to be provided for an alter offsets request"
            )
        if _is_sink(config):
            positions = dict(_position(each, offset) for each, offset in changes)
            await self._with_group(name, lambda group: group.commit(positions, moved=True))
            return

        def write() -> None:
            offsets = self._store.of(name)
            self._store.write([offsets.record(each, offset) for each, offset in changes])

        await _stored(write)

    async def reset(self, name: str, config: Mapping[str, str]) -> None:
        """Forget all of a connector's offsets; raises HttpError."""
        if _is_sink(config):
            await self._with_group(name, SinkGroup.delete)
            return

        def write() -> None:
            offsets = self._store.of(name)
            self._store.write([(each.key, None) for each in offsets.all()])

        await _stored(write)

    async def _with_group(self, name: str, call: Callable[[SinkGroup], Any]) -> Any:
        def ask() -> Any:
            group = SinkGroup(self._config.client("offsets"), name)
            try:
                return call(group)
            finally:
                group.close()

        return await _stored(ask)


async def _stored(call: Callable[[], Any]) -> Any:
    try:
        return await asyncio.to_thread(call)
    except (OffsetStoreError, ConnectorError) as failure:
        raise state_failed(failure) from None


def _is_sink(config: Mapping[str, str]) -> bool:
    return connector_type(config) == "sink"


def _position(
    partition: Mapping[str, Any], offset: Mapping[str, Any] | None
) -> tuple[TopicPartition, int]:
    try:
        where = TopicPartition(str(partition[_TOPIC]), int(partition[_PARTITION]))
        # Without an offset it starts at the beginning, which 0 or anything before it stands for.
        return where, 0 if offset is None else int(offset[_OFFSET])
    except (KeyError, TypeError, ValueError):
        raise bad_request(
            "A sink's offsets are given as {'partition': {'kafka_topic': 'orders', "
            "'kafka_partition': 0}, 'offset': {'kafka_offset': 42}}"
        ) from None
