"""The registry's records as state in a topic: what they mean to the store, and how to undo them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from headwater.registry.log_records import LogRecord, NoopKey, decode, encode, encode_key
from headwater.topic_state.errors import InvalidRecordError

if TYPE_CHECKING:
    from headwater.registry.store import SchemaStore
    from headwater.topic_state.leadership import Headers, Mark
    from headwater.topic_state.log import KeyValue, Record

IDS_HEADER = "headwater.max.ids"


class ReadRecord(NamedTuple):
    """A record, and the largest ids that were ever given, which come with a claim."""

    record: LogRecord
    max_ids: dict[str, int] | None


class SchemaState:
    """Takes what counts into the store; a claim is the NOOP that Confluent's registry knows."""

    claim_key = encode_key(NoopKey())

    def __init__(self, store: SchemaStore) -> None:
        self._store = store

    def decode(self, record: Record) -> ReadRecord:
        """Understand a record; raises InvalidRecordError."""
        parsed = decode(record.key, record.value)
        is_noop = isinstance(parsed.key, NoopKey)
        return ReadRecord(parsed, _read_max_ids(record) if is_noop else None)

    def apply(self, decoded: ReadRecord, record: Record, mark: Mark | None) -> None:
        """Take in a record that counts."""
        epoch = 0 if mark is None else mark.tenure.epoch
        self._store.apply(decoded.record, timestamp=record.timestamp, epoch=epoch)
        if mark is not None and decoded.max_ids is not None:
            self._store.note_max_ids(decoded.max_ids)

    def restoring(self, key: bytes) -> list[KeyValue]:
        """Return records that bring about what a key stands for, whatever was written since."""
        return [encode(each) for each in self._store.restoring(decode(key, None).key)]

    def claim_headers(self) -> Headers:
        """Return the largest ids that were given.

        Compaction forgets schemas that were deleted for good, and what they were called must not be
        the name of something else.
        """
        return [(IDS_HEADER, msgspec.json.encode(self._store.max_ids()))]


def _read_max_ids(record: Record) -> dict[str, int] | None:
    ids = dict(record.headers or ()).get(IDS_HEADER)
    if ids is None:
        return None
    try:
        return msgspec.json.decode(ids, type=dict[str, int])
    except (msgspec.MsgspecError, UnicodeDecodeError) as failure:
        raise InvalidRecordError(f"its largest ids are malformed: {failure}") from None
