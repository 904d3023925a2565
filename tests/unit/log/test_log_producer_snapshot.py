"""Producer snapshots: Kafka's bytes, with our own behind them."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import google_crc32c
import hypothesis.strategies as st
import pytest
from hypothesis import given

from headwater.log.producers.producer_entry import BatchMetadata, ProducerEntry
from headwater.log.producers.producer_snapshot import (
    CorruptSnapshot,
    decode_snapshot,
    encode_snapshot,
    list_snapshots,
    read_snapshot,
    snapshot_path,
    write_snapshot,
)

if TYPE_CHECKING:
    from pathlib import Path

KAFKA_ENTRY = ">qhiqiqiq"


def entry(pid: int = 5) -> ProducerEntry:
    return ProducerEntry(
        pid,
        2,
        coordinator_epoch=1,
        last_timestamp=1_700_000_000_000,
        active_ms=1_800_000_000_000,
        txn_first_offset=40,
        batches=[BatchMetadata(9 + n, 49 + n, 0, 1_700_000_000_000) for n in range(3)],
    )


def fields(entry: ProducerEntry) -> tuple[object, ...]:
    return tuple(getattr(entry, name) for name in ProducerEntry.__slots__)


def test_the_file_begins_as_kafkas_does() -> None:
    content = encode_snapshot([entry()])
    version, crc, count = struct.unpack_from(">hIi", content)
    assert (version, count) == (1, 1)
    assert crc == google_crc32c.value(content[6:])
    assert struct.unpack_from(KAFKA_ENTRY, content, 10) == (
        5, 2, 11, 51, 0, 1_700_000_000_000, 1, 40,
    )  # fmt: skip


def test_a_file_of_kafkas_own_is_read() -> None:
    # Apache Kafka 4.3.1: an open transaction of producer 0, and producer 1 after three records.
    content = bytes.fromhex(
        "0001 69763f5e 00000002"
        "0000000000000000 0001 00000000 0000000000000005 00000000 000001a1dfe33a4b 00000000"
        "0000000000000005"
        "0000000000000001 0000 00000002 0000000000000004 00000000 000001a1dfe33a46 ffffffff"
        "ffffffffffffffff"
    )
    transactional, idempotent = decode_snapshot(content)
    assert (transactional.producer_id, transactional.epoch) == (0, 1)
    assert (transactional.txn_first_offset, transactional.coordinator_epoch) == (5, 0)
    assert idempotent.batches == [BatchMetadata(2, 4, 0, 0x1A1DFE33A46)]
    assert idempotent.active_ms == 0x1A1DFE33A46
    assert not idempotent.in_transaction
    # Ours is the same with more behind it; only the checksum covers that too.
    again = encode_snapshot([transactional, idempotent])
    assert again[6 : len(content)] == content[6:]


def test_a_producer_without_batches_has_kafkas_placeholders() -> None:
    content = encode_snapshot([ProducerEntry(1, 3, last_timestamp=9, active_ms=9)])
    assert struct.unpack_from(KAFKA_ENTRY, content, 10) == (1, 3, -1, -1, 0, 9, -1, -1)
    (loaded,) = decode_snapshot(content)
    assert loaded.batches == []


def test_no_producers_make_a_file_too(tmp_path: Path) -> None:
    path = snapshot_path(tmp_path, 12)
    write_snapshot(path, [])
    assert path.name == "00000000000000000012.snapshot"
    assert read_snapshot(path) == []


batches = st.builds(
    BatchMetadata,
    st.integers(0, 2**31 - 1),
    st.integers(0, 2**62),
    st.integers(0, 1000),
    st.integers(0, 2**42),
)


@given(
    st.lists(
        st.builds(
            lambda pid, epoch, active, txn, kept: ProducerEntry(
                pid, epoch, coordinator_epoch=2, last_timestamp=kept[-1].timestamp if kept else 3,
                active_ms=active, txn_first_offset=txn, batches=kept,
            ),
            st.integers(0, 2**62), st.integers(0, 2**15 - 1), st.integers(0, 2**42),
            st.integers(-1, 2**62), st.lists(batches, max_size=5),
        ),
        max_size=20,
    )
)  # fmt: skip
def test_what_is_written_is_read(entries: list[ProducerEntry]) -> None:
    loaded = decode_snapshot(encode_snapshot(entries))
    assert [fields(entry) for entry in loaded] == [fields(entry) for entry in entries]


def test_any_damage_is_noticed() -> None:
    content = encode_snapshot([entry(1), entry(2)])
    for length in range(len(content)):
        with pytest.raises(CorruptSnapshot):
            decode_snapshot(content[:length])
    for position in range(len(content)):
        damaged = bytearray(content)
        damaged[position] ^= 0x10
        with pytest.raises(CorruptSnapshot):
            decode_snapshot(bytes(damaged))


def test_the_error_names_the_file(tmp_path: Path) -> None:
    path = snapshot_path(tmp_path, 5)
    path.write_bytes(b"\0\1nonsense that is long enough")
    with pytest.raises(CorruptSnapshot, match=r"00000000000000000005\.snapshot"):
        read_snapshot(path)


def test_snapshots_are_listed_by_offset(tmp_path: Path) -> None:
    for offset in (300, 7, 20):
        write_snapshot(snapshot_path(tmp_path, offset), [entry()])
    (tmp_path / "00000000000000000009.snapshot.deleted").touch()
    (tmp_path / "leader-epoch.snapshot").touch()
    assert list(list_snapshots(tmp_path)) == [7, 20, 300]
