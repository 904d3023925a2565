from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kio.index import load_request_schema, load_response_schema
from tests.unit.protocol.kio_oracle import FEW, read, versions, write

from headwater.protocol.api_keys import SERVED, ApiKey
from headwater.protocol.frames import (
    RequestHeader,
    frame_size,
    parse_request_header,
    response_header,
)
from headwater.protocol.primitives import ProtocolError


@pytest.mark.parametrize(("key", "version"), versions(*SERVED))
@FEW
@given(correlation_id=st.integers(-(1 << 31), (1 << 31) - 1), client_id=st.none() | st.text())
def test_headers_are_kafkas(
    key: ApiKey, version: int, correlation_id: int, client_id: str | None
) -> None:
    request_header: Any = load_request_schema(key, version).__header_schema__
    encoded = write(
        request_header(
            request_api_key=key,
            request_api_version=version,
            correlation_id=correlation_id,
            client_id=client_id,
        )
    )
    assert parse_request_header(memoryview(encoded + b"body")) == RequestHeader(
        key, version, correlation_id, client_id, len(encoded)
    )
    header_schema = load_response_schema(key, version).__header_schema__
    answer: Any = read(header_schema, response_header(key, version, correlation_id))
    assert answer.correlation_id == correlation_id


def test_the_header_of_api_versions_has_no_tagged_fields() -> None:
    assert response_header(ApiKey.API_VERSIONS, 4, 7) == b"\x00\x00\x00\x07"
    assert response_header(ApiKey.METADATA, 13, 7) == b"\x00\x00\x00\x07\x00"


def test_steps_over_tagged_fields() -> None:
    frame = struct.pack(">hhih3s", ApiKey.FETCH, 12, 5, 3, b"abc") + b"\x01\x00\x02xy" + b"body"
    assert parse_request_header(memoryview(frame)).body == len(frame) - 4


def test_understands_a_greeting_from_the_future() -> None:
    frame = struct.pack(">hhih", ApiKey.API_VERSIONS, 99, 5, -1) + b"\xff\xff\xff"
    header = parse_request_header(memoryview(frame))
    assert header[:4] == (ApiKey.API_VERSIONS, 99, 5, None)


@pytest.mark.parametrize("key", [-1, 93, 9999])
def test_refuses_apis_that_kafka_does_not_have(key: int) -> None:
    with pytest.raises(ProtocolError, match=f"api_key: {key} is not one of Kafka's"):
        parse_request_header(memoryview(struct.pack(">hhih", key, 0, 0, -1)))


@pytest.mark.parametrize("length", range(14))
def test_refuses_a_header_that_is_cut_off(length: int) -> None:
    frame = struct.pack(">hhih3sB", ApiKey.FETCH, 12, 5, 3, b"abc", 0)
    with pytest.raises(ProtocolError, match=r"request header|client_id"):
        parse_request_header(memoryview(frame[:length]))
    assert parse_request_header(memoryview(frame)).body == 14


@pytest.mark.parametrize("size", [-1, -(1 << 31), 0, 7, 101, (1 << 31) - 1])
def test_refuses_sizes_that_no_client_sends(size: int) -> None:
    with pytest.raises(ProtocolError, match=f"frame size: {size} is not between 8 and the 100"):
        frame_size(memoryview(struct.pack(">i", size)), 100)


@pytest.mark.parametrize("size", [8, 100])
def test_reads_the_size_of_a_frame(size: int) -> None:
    assert frame_size(memoryview(struct.pack(">i", size) + b"more"), 100) == size
