"""Answers with offsets that are read by hand say what the codec of the schemas reads in them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kio.schema.errors import ErrorCode as KioErrorCode
from tests.unit.protocol.kio_oracle import responses, write

from headwater.clients.raw.offset_answers import (
    LIST_OFFSETS_VERSION,
    OFFSET_FETCH_VERSION,
    committed_offsets,
    listed_offsets,
)
from headwater.protocol import messages
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode
from headwater.protocol.primitives import ProtocolError

LIST_OFFSETS = ApiKey.LIST_OFFSETS, LIST_OFFSETS_VERSION
OFFSET_FETCH = ApiKey.OFFSET_FETCH, OFFSET_FETCH_VERSION
ERRORS = st.sampled_from([KioErrorCode.none] * 3 + list(KioErrorCode))
METADATA = st.sampled_from(["", "", "", None, "of Streams", "é" * 100])


def listed_as_the_codec_has_it(answer: Any) -> dict[str, dict[int, int]]:
    found: dict[str, dict[int, int]] = {}
    for topic in answer.topics:
        of_topic = found.setdefault(topic.name, {})
        for each in topic.partitions:
            if each.error_code == ErrorCode.NONE:
                of_topic[each.partition_index] = each.offset
    return found


def committed_as_the_codec_has_it(answer: Any) -> list[Any]:
    return [
        (
            group.group_id,
            {
                topic.name: {
                    each.partition_index: each.committed_offset
                    for each in topic.partitions
                    if each.error_code == ErrorCode.NONE and each.committed_offset >= 0
                }
                for topic in group.topics
            },
        )
        for group in answer.groups
        if group.error_code == ErrorCode.NONE
    ]


@given(responses(*LIST_OFFSETS))
def test_any_listed_offsets_are_read(answer: Any) -> None:
    assert listed_offsets(memoryview(write(answer))) == listed_as_the_codec_has_it(answer)


@given(responses(*OFFSET_FETCH))
def test_any_committed_offsets_are_read(answer: Any) -> None:
    assert committed_offsets(memoryview(write(answer))) == committed_as_the_codec_has_it(answer)


@st.composite
def likely_listed(draw: st.DrawFn) -> bytes:
    """Draw what brokers say: a few topics, and an error here and there."""
    partitions = st.fixed_dictionaries(
        {
            "partition_index": st.integers(0, 20),
            "error_code": ERRORS,
            "timestamp": st.just(-1),
            "offset": st.integers(-1, (1 << 63) - 1),
            "leader_epoch": st.integers(-1, 5),
        }
    )
    topics = st.fixed_dictionaries(
        {"name": st.sampled_from(["a", "b", "é"]), "partitions": st.lists(partitions)}
    )
    return messages.encode_response(*LIST_OFFSETS, {"topics": draw(st.lists(topics))})


@st.composite
def likely_committed(draw: st.DrawFn) -> bytes:
    """Draw what brokers say: metadata and errors here and there."""
    partitions = st.fixed_dictionaries(
        {
            "partition_index": st.integers(0, 20),
            "committed_offset": st.integers(-1, (1 << 63) - 1),
            "committed_leader_epoch": st.integers(-1, 5),
            "metadata": METADATA,
            "error_code": ERRORS,
        }
    )
    topics = st.fixed_dictionaries(
        {"name": st.sampled_from(["a", "b", "é" * 100]), "partitions": st.lists(partitions)}
    )
    groups = st.fixed_dictionaries(
        {
            "group_id": st.sampled_from(["one", "two"]),
            "topics": st.lists(topics, max_size=3),
            "error_code": ERRORS,
        }
    )
    return messages.encode_response(*OFFSET_FETCH, {"groups": draw(st.lists(groups, max_size=3))})


@given(likely_listed(), st.data())
def test_listed_offsets_are_read_and_refused_as_by_the_codec(
    encoded: bytes, data: st.DataObject
) -> None:
    answer = messages.decode_response(*LIST_OFFSETS, memoryview(encoded))
    assert listed_offsets(memoryview(encoded)) == listed_as_the_codec_has_it(answer)
    cut = memoryview(encoded)[: data.draw(st.integers(0, len(encoded) - 1))]
    with pytest.raises(ProtocolError):
        messages.decode_response(*LIST_OFFSETS, cut)
    with pytest.raises(ProtocolError):
        listed_offsets(cut)


@given(likely_committed(), st.data())
def test_committed_offsets_are_read_and_refused_as_by_the_codec(
    encoded: bytes, data: st.DataObject
) -> None:
    answer = messages.decode_response(*OFFSET_FETCH, memoryview(encoded))
    assert committed_offsets(memoryview(encoded)) == committed_as_the_codec_has_it(answer)
    cut = memoryview(encoded)[: data.draw(st.integers(0, len(encoded) - 1))]
    with pytest.raises(ProtocolError):
        messages.decode_response(*OFFSET_FETCH, cut)
    with pytest.raises(ProtocolError):
        committed_offsets(cut)


@given(likely_committed(), st.data())
def test_what_the_codec_reads_of_a_changed_answer_is_read(
    encoded: bytes, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(encoded) - 1))
    changed = data.draw(st.binary(max_size=4))
    view = memoryview(encoded[:place] + changed + encoded[place + 1 :])
    try:
        answer = messages.decode_response(*OFFSET_FETCH, view)
    except ProtocolError:
        return
    assert committed_offsets(view) == committed_as_the_codec_has_it(answer)


def test_optional_fields_of_the_future_are_stepped_over() -> None:
    partitions = [
        {"partition_index": index, "committed_offset": index + 5, "metadata": ""}
        for index in range(2)
    ]
    tree = {"groups": [{"group_id": "one", "topics": [{"name": "a", "partitions": partitions}]}]}
    encoded = messages.encode_response(*OFFSET_FETCH, tree)
    last = len(encoded) - 6  # before the ends of topic, group and answer
    assert encoded[last:] == bytes(6)
    for place in (last - 20, last):
        view = memoryview(encoded[:place] + bytes((1, 0, 2, 7, 7)) + encoded[place + 1 :])
        assert committed_offsets(view) == [("one", {"a": {0: 5, 1: 6}})]


def test_an_error_of_a_newer_broker_costs_its_partition_alone() -> None:
    partitions = [
        {"partition_index": 0, "error_code": 9999, "offset": 1},
        {"partition_index": 1, "error_code": 0, "offset": 2},
    ]
    tree = {"topics": [{"name": "orders", "partitions": partitions}]}
    encoded = messages.encode_response(*LIST_OFFSETS, tree)
    assert listed_offsets(memoryview(encoded)) == {"orders": {1: 2}}
