"""Records of `__transaction_state`: Kafka's layout, byte by byte."""

from __future__ import annotations

from dataclasses import replace

import hypothesis.strategies as st
import pytest
from hypothesis import given

from headwater.broker.transactions.metadata import TransactionMetadata, TransactionState
from headwater.broker.transactions.records import (
    decode_key,
    decode_value,
    encode_key,
    encode_value,
    tombstone,
    transaction_record,
)
from headwater.protocol.errors import ProtocolError

METADATA = TransactionMetadata(
    "till-1",
    producer_id=7,
    producer_epoch=3,
    timeout_ms=60_000,
    state=TransactionState.PREPARE_COMMIT,
    last_update_ms=1_700_000_000_005,
    partitions=frozenset({("orders", 0), ("orders", 2), ("bills", 1)}),
    start_ms=1_700_000_000_000,
    previous_producer_id=7,
    next_producer_id=-1,
    client_version=2,
)

names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30)
int64 = st.integers(-1, 2**63 - 1)


def test_the_layout_is_kafkas() -> None:
    key, value = transaction_record(METADATA)
    assert key == b"\0\0\0\x06till-1"
    assert value == bytes.fromhex(
        "0001"  # version
        "0000000000000007 0003 0000ea60 02"  # producer, epoch, time-out, state
        "03"  # two topics
        "06 62696c6c73 02 00000001 00"
        "07 6f7264657273 03 00000000 00000002 00"
        "0000018bcfe56805 0000018bcfe56800"  # last update, start
        "02 00 08 0000000000000007 02 02 0002"  # previous producer, client version
    )


def test_an_empty_transaction_has_null_partitions() -> None:
    empty = replace(METADATA, state=TransactionState.EMPTY, partitions=frozenset(), start_ms=-1)
    assert encode_value(empty)[17:18] == b"\0"
    assert decode_value("till-1", encode_value(empty)) == empty


def test_a_value_of_an_old_kafka_is_read() -> None:
    value = bytes.fromhex(
        "0000 0000000000000007 0003 0000ea60 01"
        "00000001 0006 6f7264657273 00000002 00000000 00000002"
        "0000018bcfe56805 0000018bcfe56800"
    )
    metadata = decode_value("till-1", value)
    assert metadata.partitions == {("orders", 0), ("orders", 2)}
    assert metadata.state is TransactionState.ONGOING
    assert metadata.client_version == 0


WRITTEN_BY_KAFKA = {
    # One transactional id of Apache Kafka 4.3.1: taken, begun, aborted and begun again.
    TransactionState.EMPTY: (
        "0001 0000000000000000 0000 0000ea60 00 00 000001a1dfe35ac7 ffffffffffffffff"
        "01 00 08 0000000000000000"
    ),
    TransactionState.ONGOING: (
        "0001 0000000000000000 0000 0000ea60 01 02 037431 02 00000000 00"
        "000001a1dfe35b23 000001a1dfe35b23 02 00 08 0000000000000000 02 02 0002"
    ),
    TransactionState.PREPARE_ABORT: (
        "0001 0000000000000000 0001 0000ea60 03 02 037431 02 00000000 00"
        "000001a1dfe35b77 000001a1dfe35b23 02 00 08 0000000000000000 02 02 0002"
    ),
    TransactionState.COMPLETE_ABORT: (
        "0001 0000000000000000 0001 0000ea60 05 01"
        "000001a1dfe35b79 000001a1dfe35b23 02 00 08 0000000000000000 02 02 0002"
    ),
}


@pytest.mark.parametrize("state", WRITTEN_BY_KAFKA)
def test_kafkas_own_records_are_ours_byte_for_byte(state: TransactionState) -> None:
    value = bytes.fromhex(WRITTEN_BY_KAFKA[state])
    metadata = decode_value("till-1", value)
    assert metadata.state is state
    assert encode_value(metadata) == value


def test_a_tombstone_has_no_value() -> None:
    assert tombstone("till-1") == (encode_key("till-1"), None)


def test_keys_of_a_later_kafka_are_passed_over() -> None:
    assert decode_key(encode_key("till-1")) == "till-1"
    assert decode_key(b"\0\x05whatever") is None


@pytest.mark.parametrize("value", [b"", b"\0\x01\0", b"\0\x09" + bytes(40)])
def test_damage_is_refused(value: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode_value("till-1", value)


def test_an_unknown_state_is_refused() -> None:
    value = bytearray(encode_value(METADATA))
    value[16] = 77
    with pytest.raises(ProtocolError, match="state 77"):
        decode_value("till-1", bytes(value))


@given(
    st.builds(
        TransactionMetadata,
        transactional_id=names,
        producer_id=int64,
        producer_epoch=st.integers(-1, 2**15 - 1),
        timeout_ms=st.integers(0, 2**31 - 1),
        state=st.sampled_from([s for s in TransactionState if s is not TransactionState.EMPTY]),
        last_update_ms=int64,
        partitions=st.frozensets(st.tuples(names, st.integers(0, 2**31 - 1)), max_size=8),
        start_ms=int64,
        previous_producer_id=int64,
        next_producer_id=int64,
        client_version=st.sampled_from([0, 1, 2]),
    )
)
def test_what_is_written_is_read(metadata: TransactionMetadata) -> None:
    key, value = transaction_record(metadata)
    assert value is not None
    transactional_id = decode_key(key)
    assert transactional_id is not None
    assert decode_value(transactional_id, value) == metadata
