"""The registry's records as state in a topic: ids that claims carry, and what undoes a record."""

from __future__ import annotations

import pytest

from headwater.registry.log_records import LogRecord, ModeKey, ModeValue, NoopKey, encode
from headwater.registry.schema_ids import SchemaIds
from headwater.registry.schema_state import SchemaState
from headwater.registry.store import SchemaStore
from headwater.topic_state.errors import InvalidRecordError
from headwater.topic_state.leadership import Mark, Tenure
from headwater.topic_state.log import Record

MARK = Mark(Tenure(1, "a"), "http://a")


def claim(headers: list[tuple[str, bytes]]) -> Record:
    return Record(0, None, SchemaState.claim_key, None, headers)


def test_a_claim_is_the_noop_that_other_registries_know() -> None:
    assert SchemaState.claim_key == b'{"keytype":"NOOP","magic":0}'


def test_a_claim_carries_the_largest_ids_that_were_given() -> None:
    former, later = SchemaStore(), SchemaStore()
    former.note_max_ids({".": 41, ".x": 7})
    headers = SchemaState(former).claim_headers()
    assert headers == [("headwater.max.ids", b'{".":41,".x":7}')]
    state, record = SchemaState(later), claim(headers)
    state.apply(state.decode(record), record, MARK)
    ids = SchemaIds(later)
    assert [ids.next("."), ids.next("."), ids.next(".x"), ids.next(".y")] == [42, 43, 8, 1]


def test_ids_count_from_a_leader_only() -> None:
    store = SchemaStore()
    state, record = SchemaState(store), claim([("headwater.max.ids", b'{".":41}')])
    state.apply(state.decode(record), record, None)
    assert store.max_ids() == {}


@pytest.mark.parametrize("ids", [b"[]", b"{", b"\xff", b'{".":"x"}'])
def test_a_claim_with_malformed_ids_is_skipped(ids: bytes) -> None:
    with pytest.raises(InvalidRecordError, match="its largest ids are malformed"):
        SchemaState(SchemaStore()).decode(claim([("headwater.max.ids", ids)]))


def test_a_record_that_does_not_count_is_undone_by_what_did() -> None:
    store = SchemaStore()
    state = SchemaState(store)
    key, value = encode(LogRecord(ModeKey("s"), ModeValue("READONLY")))
    assert state.restoring(key) == [(key, None)]
    record = Record(0, None, key, value, None)
    state.apply(state.decode(record), record, None)
    assert state.restoring(key) == [(key, value)]
    assert state.restoring(encode(LogRecord(NoopKey(), None))[0]) == []
