"""Reads and writes the fields of the records in `__consumer_offsets`, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headwater.protocol.encodings import encoding
from headwater.protocol.primitives import (
    read_int8,
    read_int16,
    read_int32,
    read_int64,
    read_tagged_fields,
    read_uuid,
    write_int8,
    write_int16,
    write_int32,
    write_int64,
    write_tagged_fields,
    write_uuid,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import TypeVar

    Item = TypeVar("Item")


class CoordinatorRecord(NamedTuple):
    """A record of `__consumer_offsets`; a value of None is a tombstone."""

    key: bytes
    value: bytes | None


class FieldWriter:
    """Builds a key or a value, its version first, field by field."""

    def __init__(self, version: int, *, flexible: bool) -> None:
        self._flexible = flexible
        self._encoding = encoding(flexible)
        self._parts = [write_int16(version)]

    @classmethod
    def fields_only(cls) -> FieldWriter:
        """Return a writer for the content of a tagged field, which has no version of its own."""
        writer = cls(0, flexible=True)
        writer._parts.clear()
        return writer

    def int8(self, value: int) -> FieldWriter:
        """Write a number of 8 bits."""
        self._parts.append(write_int8(value))
        return self

    def int32(self, value: int) -> FieldWriter:
        """Write a number of 32 bits."""
        self._parts.append(write_int32(value))
        return self

    def int64(self, value: int) -> FieldWriter:
        """Write a number of 64 bits."""
        self._parts.append(write_int64(value))
        return self

    def uuid(self, value: bytes) -> FieldWriter:
        """Write a topic id."""
        self._parts.append(write_uuid(value))
        return self

    def string(self, value: str | None) -> FieldWriter:
        """Write a string that may be null."""
        self._parts.append(self._encoding.write_nullable_string(value))
        return self

    def blob(self, value: bytes) -> FieldWriter:
        """Write bytes with their length."""
        self._parts.append(self._encoding.write_bytes(value))
        return self

    def nullable_blob(self, value: bytes | None) -> FieldWriter:
        """Write bytes that may be null."""
        self._parts.append(self._encoding.write_nullable_bytes(value))
        return self

    def array(
        self, items: Iterable[Item], write_item: Callable[[FieldWriter, Item], object]
    ) -> FieldWriter:
        """Write an array, each of its items with `write_item`."""
        items = list(items)
        self._parts.append(self._encoding.write_array_length(len(items)))
        for item in items:
            write_item(self, item)
        return self

    def tags(self, fields: Mapping[int, bytes] | None = None) -> FieldWriter:
        """End a structure; a version without tagged fields ends without a sign."""
        if self._flexible:
            self._parts.append(write_tagged_fields(fields or {}))
        return self

    def build(self) -> bytes:
        """Return what was written."""
        return b"".join(self._parts)


class FieldReader:
    """Takes a key or a value apart; anything malformed raises ProtocolError."""

    def __init__(self, data: bytes | memoryview, position: int = 0) -> None:
        self._view = memoryview(data)
        self._position = position
        self._flexible = False
        self._encoding = encoding(False)

    def version(self, flexible_from: int) -> int:
        """Read the version that everything in `__consumer_offsets` starts with."""
        version = self.int16()
        self._flexible = version >= flexible_from
        self._encoding = encoding(self._flexible)
        return version

    def as_flexible(self) -> FieldReader:
        """Read on as in a flexible version."""
        self._flexible = True
        self._encoding = encoding(True)
        return self

    def int8(self) -> int:
        """Read a number of 8 bits."""
        value, self._position = read_int8(self._view, self._position, "record")
        return value

    def int16(self) -> int:
        """Read a number of 16 bits."""
        value, self._position = read_int16(self._view, self._position, "record")
        return value

    def int32(self) -> int:
        """Read a number of 32 bits."""
        value, self._position = read_int32(self._view, self._position, "record")
        return value

    def int64(self) -> int:
        """Read a number of 64 bits."""
        value, self._position = read_int64(self._view, self._position, "record")
        return value

    def uuid(self) -> bytes:
        """Read a topic id."""
        value, self._position = read_uuid(self._view, self._position, "record")
        return value

    def string(self) -> str:
        """Read a string."""
        value, self._position = self._encoding.read_string(self._view, self._position, "record")
        return value

    def nullable_string(self) -> str | None:
        """Read a string that may be null."""
        value, self._position = self._encoding.read_nullable_string(
            self._view, self._position, "record"
        )
        return value

    def blob(self) -> bytes:
        """Read bytes with their length."""
        value, self._position = self._encoding.read_bytes(self._view, self._position, "record")
        return bytes(value)

    def nullable_blob(self) -> bytes | None:
        """Read bytes that may be null."""
        value, self._position = self._encoding.read_nullable_bytes(
            self._view, self._position, "record"
        )
        return None if value is None else bytes(value)

    def array(self, read_item: Callable[[FieldReader], Item]) -> list[Item]:
        """Read an array, each of its items with `read_item`."""
        length, self._position = self._encoding.read_array_length(
            self._view, self._position, "record", 1
        )
        return [read_item(self) for _ in range(length)]

    def tags(self) -> Mapping[int, memoryview]:
        """Read the end of a structure with its tagged fields, if the version has any."""
        if not self._flexible:
            return {}
        tags, self._position = read_tagged_fields(self._view, self._position, "record")
        return tags
