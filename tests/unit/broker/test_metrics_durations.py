"""Counting how long things take."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headwater.broker.metrics.durations import Durations
from headwater.broker.metrics.request_times import RequestTimes
from headwater.protocol.api_keys import SERVED, ApiKey
from headwater.protocol.frames import RequestHeader


@given(st.lists(st.integers(0, 2**62)))
def test_every_bucket_has_all_that_took_less(nanoseconds: list[int]) -> None:
    durations = Durations()
    for each in nanoseconds:
        durations.record(each)
    assert durations.count == len(nanoseconds)
    assert durations.total_ns == sum(nanoseconds)
    for bound_us, count in durations.cumulative(64, 1 << 26):
        assert count == sum(each < bound_us * 1000 for each in nanoseconds)


def test_a_copy_does_not_change_any_more() -> None:
    durations = Durations()
    durations.record(5)
    copy = durations.copy()
    durations.record(5)
    assert (copy.count, copy.total_ns, durations.count) == (1, 5, 2)


def header(api_key: ApiKey, version: int) -> RequestHeader:
    return RequestHeader(api_key, version, 1, "app", 0)


def test_requests_are_counted_by_api_and_version() -> None:
    times = RequestTimes()
    for _ in range(3):
        times.record(header(ApiKey.PRODUCE, 9), 1000)
    times.record(header(ApiKey.PRODUCE, 8), 500)
    counted = {key: (each.count, each.total_ns) for key, each in times.items()}
    assert counted == {(ApiKey.PRODUCE, 9): (3, 3000), (ApiKey.PRODUCE, 8): (1, 500)}


def test_versions_that_nobody_serves_do_not_fill_the_memory() -> None:
    times = RequestTimes()
    for version in range(-100, 1000):
        times.record(header(ApiKey.API_VERSIONS, version), 1)
    assert len(dict(times.items())) <= SERVED[ApiKey.API_VERSIONS].max + 1
    assert sum(each.count for _, each in times.items()) == 1100
