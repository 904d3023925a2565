"""Bytes from anywhere: a decoder either understands them or raises ProtocolError, and stays small.

Random bytes try the beginning of each decoder; real requests with a few bytes changed, cut out or
put in get deep into it.
"""

from __future__ import annotations

import contextlib
import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.effort import often
from tests.unit.protocol.kio_oracle import COLD, requests, versions, write

from headwater.protocol import api_versions, fetch, list_offsets, messages, metadata, produce
from headwater.protocol.api_keys import SERVED, ApiKey
from headwater.protocol.frames import frame_size, parse_request_header
from headwater.protocol.primitives import ProtocolError

if TYPE_CHECKING:
    from collections.abc import Callable

MUTATIONS = settings(
    max_examples=often(40, in_soak=1000),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

HAND_WRITTEN: dict[ApiKey, Callable[[int, memoryview, int], Any]] = {
    ApiKey.PRODUCE: produce.decode_request,
    ApiKey.FETCH: fetch.decode_request,
    ApiKey.LIST_OFFSETS: list_offsets.decode_request,
    ApiKey.METADATA: metadata.decode_request,
    ApiKey.API_VERSIONS: api_versions.decode_request,
}

# Lengths that decoders of binary formats trip over: zero, null, negative, huge.
NASTY = [
    b"\x00",
    b"\xff",
    b"\x7f",
    b"\xff\xff",
    b"\xff\xfe",
    b"\x7f\xff",
    b"\xff\xff\xff\xff",
    b"\xff\xff\xff\xfe",
    b"\x7f\xff\xff\xff",
    b"\x80\x00\x00\x00",
    b"\x00\x01\x00\x00",
    b"\xff\xff\xff\xff\x07",
    b"\xff\xff\xff\xff\x0f",
    b"\x80\x80\x80\x80\x80\x80",
]


EVERY_API = pytest.mark.parametrize("key", list(SERVED))


def served(key: ApiKey) -> st.SearchStrategy[int]:
    return st.integers(SERVED[key].min, SERVED[key].max)


def decode(key: ApiKey, version: int, body: bytes) -> Any:
    by_hand = HAND_WRITTEN.get(key)
    if by_hand is not None:
        return by_hand(version, memoryview(body), 0)
    return messages.decode_request(key, version, memoryview(body))


def decode_or_refuse(key: ApiKey, version: int, body: bytes) -> None:
    with contextlib.suppress(ProtocolError):
        decode(key, version, body)


def decode_or_refuse_in_little_memory(key: ApiKey, version: int, body: bytes) -> None:
    """The memory that is taken must stay in proportion to the request."""
    decode_or_refuse(key, version, body)  # what is cached on the first time is no part of it
    tracemalloc.start()
    try:
        decode_or_refuse(key, version, body)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 16_384 + 64 * len(body)


@st.composite
def mutated(draw: st.DrawFn, key: ApiKey, version: int) -> bytes:
    body = bytearray(write(draw(requests(key, version))))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(body)))
        junk = draw(st.sampled_from(NASTY) | st.binary(max_size=6))
        # Overwrite as much as the junk has, cut out a piece, or put it in between.
        end = draw(st.sampled_from([at + len(junk), at + 1, at, len(body)]))
        body[at:end] = junk
    return bytes(body)


def test_every_served_api_is_fuzzed() -> None:
    assert {*HAND_WRITTEN, *COLD} == {*SERVED}


@EVERY_API
@MUTATIONS
@given(data=st.data(), body=st.binary(max_size=200))
def test_random_bytes(key: ApiKey, data: st.DataObject, body: bytes) -> None:
    decode_or_refuse_in_little_memory(key, data.draw(served(key)), body)


@EVERY_API
@MUTATIONS
@given(data=st.data())
def test_damaged_requests(key: ApiKey, data: st.DataObject) -> None:
    version = data.draw(served(key))
    decode_or_refuse_in_little_memory(key, version, data.draw(mutated(key, version)))


@EVERY_API
@MUTATIONS
@given(data=st.data())
def test_a_request_that_is_cut_off_is_always_refused(key: ApiKey, data: st.DataObject) -> None:
    version = data.draw(served(key))
    body = write(data.draw(requests(key, version)))
    if not body:
        return  # ApiVersions up to v2 has no body
    length = data.draw(st.integers(0, len(body) - 1))
    with pytest.raises(ProtocolError):
        decode(key, version, body[:length])


@given(frame=st.binary(max_size=60))
def test_random_frames(frame: bytes) -> None:
    with contextlib.suppress(ProtocolError):
        assert 10 <= parse_request_header(memoryview(frame)).body <= len(frame)


@given(prefix=st.binary(min_size=4, max_size=4))
def test_random_frame_sizes(prefix: bytes) -> None:
    with contextlib.suppress(ProtocolError):
        assert 8 <= frame_size(memoryview(prefix), 1000) <= 1000


@EVERY_API
@pytest.mark.parametrize("filling", [b"\x00", b"\x01", b"\x7f", b"\xff", b"\x00\x00\x00\x01"])
def test_a_large_frame_of_one_byte_over_and_over(key: ApiKey, filling: bytes) -> None:
    for _, version in versions(key):
        decode_or_refuse(key, version, filling * (400_000 // len(filling)))
