"""How use is measured: number for number as Kafka's own classes measured it, and by property."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.broker.quotas.rate import SampledRate
from headwater.broker.quotas.token_bucket import TokenBucket

# What org.apache.kafka.common.metrics.stats of Kafka 4.3.1 said, event by event.
_KAFKA = json.loads((Path(__file__).parent / "kafka_quota_measures.json").read_text())

_START = 1_700_000_000_000
_events = st.lists(st.tuples(st.integers(0, 5_000), st.floats(0, 1e7)), max_size=40)


@pytest.mark.parametrize("case", _KAFKA["rates"])
def test_a_rate_is_what_kafka_makes_of_the_same_events(case: dict[str, Any]) -> None:
    rate = SampledRate(case["bound"], case["samples"], case["window_ms"])
    for now_ms, value, per_second, elapsed_ms, throttle_ms in case["events"]:
        rate.record(value, now_ms)
        assert rate.per_second(now_ms) == pytest.approx(per_second)
        assert rate.elapsed_ms(now_ms) == elapsed_ms
        assert rate.throttle_ms(now_ms) == throttle_ms


@pytest.mark.parametrize("case", _KAFKA["buckets"])
def test_a_bucket_holds_what_kafkas_holds(case: dict[str, Any]) -> None:
    bucket = TokenBucket(case["bound"], case["samples"], case["window_ms"])
    for now_ms, value, tokens in case["events"]:
        bucket.record(value, now_ms)
        assert bucket.tokens(now_ms) == pytest.approx(tokens)


@given(_events, st.floats(1, 1e6), st.integers(1, 11), st.integers(1, 3_000))
def test_a_rate_throttles_if_and_only_if_it_is_above_its_bound(
    events: list[tuple[int, float]], bound: float, samples: int, window_ms: int
) -> None:
    rate = SampledRate(bound, samples, window_ms)
    now_ms = _START
    for pause_ms, value in events:
        now_ms += pause_ms
        rate.record(value, now_ms)
        throttle_ms = rate.throttle_ms(now_ms)
        above = (rate.per_second(now_ms) / bound - 1) * rate.elapsed_ms(now_ms)
        assert throttle_ms == pytest.approx(max(above, 0), abs=0.51)


@given(_events, st.floats(0, 1e7))
def test_what_is_taken_back_was_never_there(events: list[tuple[int, float]], value: float) -> None:
    rate = SampledRate(1000, 11, 1000)
    now_ms = _START
    for pause_ms, used in events:
        now_ms += pause_ms
        rate.record(used, now_ms)
        before = rate.per_second(now_ms)
        rate.record(value, now_ms)
        rate.record(-value, now_ms)
        assert rate.per_second(now_ms) == pytest.approx(before, abs=1e-6)


@given(_events, st.integers(2, 11), st.integers(1, 3_000))
def test_a_rate_forgets_what_lies_further_back_than_all_its_windows(
    events: list[tuple[int, float]], samples: int, window_ms: int
) -> None:
    rate = SampledRate(1000, samples, window_ms)
    now_ms = _START
    for pause_ms, used in events:
        now_ms += pause_ms
        rate.record(used, now_ms)
    now_ms += samples * window_ms
    assert rate.is_idle(now_ms)
    assert rate.per_second(now_ms) == 0


@given(st.floats(1, 1e9), st.integers(2, 11), st.integers(1, 3_000), st.floats(0, 0.999))
def test_the_most_at_once_is_not_throttled_and_more_is(
    bound: float, samples: int, window_ms: int, share: float
) -> None:
    def throttle_ms(value: float) -> int:
        rate = SampledRate(bound, samples, window_ms)
        rate.record(value, _START)
        return rate.throttle_ms(_START)

    most = SampledRate(bound, samples, window_ms).most_at_once
    assert throttle_ms(most * share) == 0
    assert throttle_ms(most + 2 * bound) > 0


@given(st.lists(st.integers(1, 4_000_000), min_size=1, max_size=60))
def test_who_waits_as_told_gets_the_bound_and_no_more(sizes: list[int]) -> None:
    bound, samples, window_ms = 1_000_000, 11, 1000
    rate = SampledRate(bound, samples, window_ms)
    now_ms = _START
    waits = 0
    for size in sizes:
        rate.record(size, now_ms)
        throttle_ms = rate.throttle_ms(now_ms)
        waits += throttle_ms
        now_ms += throttle_ms
    used, burst = sum(sizes), bound * samples * window_ms / 1000
    # Windows make it coarse, as they do in Kafka: what is sent in lumps of several seconds' worth
    # is forgotten in lumps, too.
    assert used <= (burst + bound * waits / 1000) * 1.3
    if waits:
        assert used >= (bound * waits / 1000) * 0.9


@given(st.lists(st.tuples(st.integers(0, 5_000), st.integers(0, 50)), max_size=40))
def test_a_bucket_is_never_above_full_and_fills_in_the_time_it_says(
    events: list[tuple[int, int]],
) -> None:
    bucket = TokenBucket(5.0, 11, 1000)
    now_ms = _START
    for pause_ms, tokens in events:
        now_ms += pause_ms
        bucket.record(tokens, now_ms)
        assert bucket.tokens(now_ms) <= 55
        wait_ms = bucket.throttle_ms(now_ms)
        assert (wait_ms > 0) == (bucket.tokens(now_ms) < -0.0025)
        now_ms += wait_ms
        assert bucket.tokens(now_ms) >= -0.0025
