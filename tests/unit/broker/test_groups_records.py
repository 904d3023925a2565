"""The records of `__consumer_offsets`: read and written byte for byte as Apache Kafka has them.

`kafka_group_records.json` holds keys and values that Apache Kafka 4.3.1 wrote while clients of
both protocols joined, committed, changed over and left.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.broker.groups.classic.records import (
    GROUP_METADATA_KEY_VERSION,
    GroupMetadata,
    StoredMember,
    decode_group_metadata,
    group_metadata_record,
)
from headwater.broker.groups.consumer.member import ClassicSupport, MemberState, Subscription
from headwater.broker.groups.consumer.records import (
    PARTITION_METADATA_KEY_VERSION,
    Change,
    CurrentAssignment,
    CurrentChanged,
    GroupEpochChanged,
    MemberChanged,
    RegexResolved,
    TargetChanged,
    TargetEpochChanged,
    decode_change,
)
from headwater.broker.groups.offsets.records import (
    OFFSET_KEY_VERSION,
    CommittedOffset,
    OffsetKey,
    decode_offset_key,
    decode_offset_value,
    offset_record,
)
from headwater.broker.groups.record_fields import CoordinatorRecord, FieldReader
from headwater.protocol.errors import ProtocolError

FROM_KAFKA = [
    CoordinatorRecord(bytes.fromhex(key), None if value is None else bytes.fromhex(value))
    for key, value in json.loads(Path(__file__).with_name("kafka_group_records.json").read_text())
]


def written_again(record: CoordinatorRecord) -> CoordinatorRecord | None:
    """Read a record and write what it says; None if it is of a kind that says nothing."""
    key = FieldReader(record.key)
    version = key.int16()
    if version == OFFSET_KEY_VERSION:
        committed = None if record.value is None else decode_offset_value(record.value, -1)
        return offset_record(decode_offset_key(key), committed)
    if version == GROUP_METADATA_KEY_VERSION:
        metadata = None if record.value is None else decode_group_metadata(record.value)
        return group_metadata_record(key.string(), metadata)
    change = decode_change(version, key, record.value)
    return None if change is None else change.record()


@pytest.mark.parametrize("record", FROM_KAFKA, ids=lambda record: f"kind-{record.key[1]}")
def test_what_kafka_wrote_is_written_alike(record: CoordinatorRecord) -> None:
    if record.key[1] == PARTITION_METADATA_KEY_VERSION:
        assert (
            decode_change(PARTITION_METADATA_KEY_VERSION, FieldReader(record.key, 2), None) is None
        )
        return
    again = written_again(record)
    assert again is not None
    assert again.key == record.key
    if record.key[1] in (7, 8) and again.value != record.value:
        # Kafka writes topics in no particular order.
        assert again.value is not None
        assert record.value is not None
        assert sorted(again.value) == sorted(record.value)
        return
    assert again.value == record.value


def test_every_kind_is_among_them() -> None:
    assert {record.key[1] for record in FROM_KAFKA} == {1, 2, 3, 4, 5, 6, 7, 8, 16}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        # Versions 0 to 3, which brokers before 4.0 wrote, field by field.
        (
            "0000" + "0000000000000005" + "0001" + "6d" + "0000000000000009",
            CommittedOffset(5, -1, "m", 9),
        ),
        (
            "0001" + "0000000000000005" + "0001" + "6d" + "0000000000000009" + "000000000000000c",
            CommittedOffset(5, -1, "m", 9, 12),
        ),
        (
            "0002" + "0000000000000005" + "0001" + "6d" + "0000000000000009",
            CommittedOffset(5, -1, "m", 9),
        ),
        (
            "0003" + "0000000000000005" + "00000007" + "0001" + "6d" + "0000000000000009",
            CommittedOffset(5, 7, "m", 9),
        ),
    ],
)
def test_older_commits_are_read(data: str, expected: CommittedOffset) -> None:
    assert decode_offset_value(bytes.fromhex(data), -1) == expected


@pytest.mark.parametrize("version", [0, 1, 2])
def test_older_groups_are_read(version: int) -> None:
    def string(text: str) -> str:
        return f"{len(text):04x}" + text.encode().hex()

    data = f"{version:04x}" + string("consumer") + "00000003" + string("range") + string("m1")
    if version >= 2:
        data += "0000000000000009"
    data += "00000001" + string("m1") + string("client") + string("/host")
    if version >= 1:
        data += "000003e8"
    data += "000007d0" + "00000001" + "aa" + "00000002" + "bbcc"
    assert decode_group_metadata(bytes.fromhex(data)) == GroupMetadata(
        "consumer",
        3,
        "range",
        "m1",
        9 if version >= 2 else -1,
        (
            StoredMember(
                "m1",
                None,
                "client",
                "/host",
                1000 if version >= 1 else 2000,
                2000,
                b"\xaa",
                b"\xbb\xcc",
            ),
        ),
    )


names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20)
numbers = st.integers(-1, 2**31 - 1)
longs = st.integers(-(2**63), 2**63 - 1)
ids = st.binary(min_size=16, max_size=16)
partitions = st.dictionaries(ids, st.frozensets(st.integers(0, 1000), min_size=1), max_size=3)
held = st.dictionaries(
    ids, st.dictionaries(st.integers(0, 1000), st.integers(0, 99), min_size=1), max_size=3
)
classic = st.builds(
    ClassicSupport,
    numbers,
    st.lists(st.tuples(names, st.binary(max_size=30)), min_size=1).map(tuple),
)
subscriptions = st.builds(
    Subscription,
    instance_id=st.none() | names,
    rack_id=st.none() | names,
    client_id=names,
    client_host=names,
    topics=st.sets(names).map(lambda topics: tuple(sorted(topics))),
    regex=names | st.just(""),
    rebalance_timeout_ms=numbers,
    assignor=st.none() | names,
    classic=st.none() | classic,
)
currents = st.builds(CurrentAssignment, numbers, numbers, st.sampled_from(MemberState), held, held)
changes = st.one_of(
    st.builds(GroupEpochChanged, names, numbers, longs),
    st.builds(GroupEpochChanged, names, st.none()),
    st.builds(MemberChanged, names, names, st.none() | subscriptions),
    st.builds(TargetEpochChanged, names, numbers, longs),
    st.builds(TargetChanged, names, names, st.none() | partitions),
    st.builds(CurrentChanged, names, names, st.none() | currents),
    st.builds(RegexResolved, names, names, st.frozensets(names), longs, longs),
    st.builds(RegexResolved, names, names, st.none()),
)


@given(changes)
def test_changes_come_back_as_they_were(change: Change) -> None:
    record = change.record()
    key = FieldReader(record.key)
    assert decode_change(key.int16(), key, record.value) == change


committed_offsets = st.builds(
    CommittedOffset,
    longs,
    numbers,
    names | st.just(""),
    longs,
    expire_timestamp=st.just(-1),
    topic_id=ids,
    record_offset=st.just(-1),
)


@given(st.builds(OffsetKey, names, names, numbers), committed_offsets)
def test_commits_come_back_as_they_were(key: OffsetKey, committed: CommittedOffset) -> None:
    record = offset_record(key, committed)
    assert decode_offset_key(FieldReader(record.key, 2)) == key
    assert record.value is not None
    assert decode_offset_value(record.value, -1) == committed


@given(st.binary(max_size=80), st.integers(0, 20))
def test_garbage_is_refused_and_nothing_worse(data: bytes, version: int) -> None:
    with suppress(ProtocolError, ValueError):
        written_again(CoordinatorRecord(version.to_bytes(2, "big") + data, data))
