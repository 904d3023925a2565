"""PRINT: the records of a topic as lines of text, in formats that are guessed."""

from __future__ import annotations

import datetime as dt
import json
import struct
from contextlib import aclosing
from typing import TYPE_CHECKING, NamedTuple

from headwater.serde.errors import SerdeError
from headwater.sql.errors import SqlError
from headwater.sql.server.queries.topic_reading import TopicReading
from headwater.sql.server.rows.casting import at
from headwater.sql.server.rows.shown import encoded

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from headwater.serde import SchemaRegistryClient
    from headwater.sql.server.rows.records import Record
    from headwater.sql.server.server import SqlServer
    from headwater.sql.tree.statements.inspection import PrintTopic

_FRAMED_BYTES = 5


class Printed(NamedTuple):
    """Lines, one for each record; they are closed also if nobody began to take them."""

    lines: AsyncGenerator[bytes, None]
    close: Callable[[], None]


async def printed(server: SqlServer, statement: PrintTopic) -> Printed:
    """Begin to read a topic; raises SqlError for one that is not there."""
    reading = TopicReading(
        server.config.cluster, statement.topic, from_beginning=statement.from_beginning
    )
    await reading.open()
    every = max(statement.interval or 1, 1)

    async def lines() -> AsyncGenerator[bytes, None]:
        keys, values = _Guess(server.registry), _Guess(server.registry)
        number, left = 0, statement.limit
        async with aclosing(reading.batches()) as batches:
            async for batch in batches:
                text = []
                for record in batch:
                    number += 1
                    if (number - 1) % every:
                        continue
                    text.append(_line(record, keys, values, is_first=number == 1))
                    if left is not None:
                        left -= 1
                        if left == 0:
                            break
                yield "".join(text).encode()
                if left == 0:
                    return

    return Printed(lines(), reading.close)


def _line(record: Record, keys: _Guess, values: _Guess, *, is_first: bool) -> str:
    when = at(record.timestamp).astimezone(dt.UTC)
    key, value = keys.text(record.key), values.text(record.value)
    head = f"Key format: {keys.name}\nValue format: {values.name}\n" if is_first else ""
    moment = f"{when:%Y/%m/%d %H:%M:%S}.{when.microsecond // 1000:03d} Z"
    return f"{head}rowtime: {moment}, key: {key}, value: {value}, partition: {record.partition}\n"


class _Guess:
    """What keys, or values, seem to be, by the first of them."""

    def __init__(self, registry: SchemaRegistryClient | None) -> None:
        self._registry = registry
        self._read: Callable[[bytes], str] | None = None
        self.name = "¯\\_(ツ)_/¯ - no data processed"

    def text(self, data: bytes | None) -> str:
        if data is None:
            return "<null>"
        if self._read is not None:
            try:
                return self._read(data)
            except (ValueError, SerdeError, struct.error):
                self._read = None
        for name, read in self._readers(data):
            try:
                found = read(data)
            except (ValueError, SerdeError, struct.error):
                continue
            self.name, self._read = name, read
            return found
        raise SqlError("a record that is not even bytes")

    def _readers(self, data: bytes) -> list[tuple[str, Callable[[bytes], str]]]:
        found: list[tuple[str, Callable[[bytes], str]]] = []
        if self._registry is not None and data[:1] == b"\x00" and len(data) > _FRAMED_BYTES:
            from headwater.serde import AvroDeserializer, JsonSchemaDeserializer

            for name, make in (("AVRO", AvroDeserializer), ("JSON_SR", JsonSchemaDeserializer)):
                found.append((name, _registered(make(self._registry))))
        found.append(("JSON", _json))
        if len(data) == 8:
            found.append(("KAFKA_BIGINT", lambda each: str(struct.unpack(">q", each)[0])))
        if len(data) == 4:
            found.append(("KAFKA_INT", lambda each: str(struct.unpack(">i", each)[0])))
        found.append(("KAFKA_STRING", lambda each: each.decode()))
        found.append(("UNRECOGNIZED_BYTES", lambda each: each.hex()))
        # A text of letters is one, whatever its length.
        if data.isascii() and data.decode("ascii").isprintable():
            found = [pair for pair in found if pair[0] not in ("KAFKA_BIGINT", "KAFKA_INT")]
        return found


def _json(data: bytes) -> str:
    value = json.loads(data)
    if not isinstance(value, dict | list):
        raise ValueError("a text or a number is taken as it is")
    return data.decode()


def _registered(deserialize: Callable[..., object]) -> Callable[[bytes], str]:
    return lambda data: encoded(deserialize(data)).decode()
