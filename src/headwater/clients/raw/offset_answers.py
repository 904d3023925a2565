"""Answers to ListOffsets and OffsetFetch by hand, for who asks for all partitions of a cluster.

The codec of the schemas makes an object for each partition. Here those of a topic are one table,
which a `Struct` reads in one go.
"""

from __future__ import annotations

from struct import Struct

from headwater.protocol.encodings import COMPACT, LEGACY
from headwater.protocol.primitives import read_int16, skip_tagged_fields, unpack

LIST_OFFSETS_VERSION = 5
OFFSET_FETCH_VERSION = 8

_THROTTLE_SIZE = 4
_LISTED = Struct(">ihqqi")  # index, error, timestamp, offset, leader's epoch
_COMMITTED = Struct(">iqi")  # index, offset, leader's epoch
_COMMITTED_PLAINLY = Struct(">iqiBhB")  # and the length of the metadata, error, tagged fields
_METADATA, _TAGS = 16, 19
"""Where in that the two bytes are that say whether more follows."""


def listed_offsets(answer: memoryview) -> dict[str, dict[int, int]]:
    """Return the offsets by topic and partition, but for those with an error.

    Raises ProtocolError.
    """
    topics, position = LEGACY.read_array_length(answer, _THROTTLE_SIZE, "topics", 6)
    found: dict[str, dict[int, int]] = {}
    for _ in range(topics):
        name, position = LEGACY.read_string(answer, position, "topics.name")
        field = "topics.partitions"
        count, position = LEGACY.read_array_length(answer, position, field, _LISTED.size)
        end = position + count * _LISTED.size
        rows = _LISTED.iter_unpack(answer[position:end])
        found.setdefault(name, {}).update(
            [(index, offset) for index, error, _, offset, _ in rows if not error]
        )
        position = end
    return found


def committed_offsets(answer: memoryview) -> list[tuple[str, dict[str, dict[int, int]]]]:
    """Return each group with its offsets by topic and partition, but for those with an error.

    A partition that nothing was committed of is left out as well. Raises ProtocolError.
    """
    count, position = COMPACT.read_array_length(answer, _THROTTLE_SIZE, "groups", 5)
    found = []
    for _ in range(count):
        group, position = COMPACT.read_string(answer, position, "groups.group_id")
        topics, position = _topics(answer, position)
        error, position = read_int16(answer, position, "groups.error_code")
        position = skip_tagged_fields(answer, position, "groups' tagged fields")
        if not error:
            found.append((group, topics))
    skip_tagged_fields(answer, position, "tagged fields")
    return found


def _topics(answer: memoryview, position: int) -> tuple[dict[str, dict[int, int]], int]:
    count, position = COMPACT.read_array_length(answer, position, "groups.topics", 3)
    found = {}
    for _ in range(count):
        name, position = COMPACT.read_string(answer, position, "groups.topics.name")
        found[name], position = _partitions(answer, position)
        position = skip_tagged_fields(answer, position, "groups.topics' tagged fields")
    return found, position


def _partitions(answer: memoryview, position: int) -> tuple[dict[int, int], int]:
    field, size = "groups.topics.partitions", _COMMITTED_PLAINLY.size
    count, position = COMPACT.read_array_length(answer, position, field, size)
    end = position + count * size
    table = answer[position:end]
    # Where the first has neither metadata nor tagged fields, the second starts where it should,
    # and so on: if all these bytes are such, they are all those that they are taken for.
    if max(table[_METADATA::size], default=0) <= 1 and not any(table[_TAGS::size]):
        rows = _COMMITTED_PLAINLY.iter_unpack(table)
        plain = {index: at for index, at, _, _, error, _ in rows if not error and at >= 0}
        return plain, end
    found = {}
    for _ in range(count):
        index, offset, _ = unpack(_COMMITTED, answer, position, field)
        position += _COMMITTED.size
        _, position = COMPACT.read_nullable_string(answer, position, f"{field}.metadata")
        error, position = read_int16(answer, position, f"{field}.error_code")
        position = skip_tagged_fields(answer, position, f"{field}' tagged fields")
        if not error and offset >= 0:
            found[index] = offset
    return found, position
