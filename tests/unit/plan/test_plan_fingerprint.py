"""Fingerprints: what may change between two runs and what may not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.unit.plan.representative_programs import PROGRAMS, app_of

from headwater.plan.splitting.fingerprint import Fingerprint
from headwater.streams import App, KStream, avg, count, tumbling

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.plan.windows import Duration


def _fingerprint(build: Callable[[KStream], None], topic: str = "readings") -> Fingerprint:
    app = App("app")
    build(app.stream(topic, value_type="id string, value double"))
    return app.fingerprint()


def _average(size: Duration = "1 minute") -> Callable[[KStream], None]:
    def build(readings: KStream) -> None:
        windows = readings.group_by_key().windowed_by(tumbling(size))
        windows.aggregate(mean=avg("value")).to_stream().to("averages")

    return build


def _filtered(readings: KStream) -> None:
    _average()(readings.filter("value > 0"))


def _counted_too(readings: KStream) -> None:
    windows = readings.group_by_key().windowed_by(tumbling("1 minute"))
    windows.aggregate(mean=avg("value"), n=count()).to_stream().to("averages")


def _with_another_sink(readings: KStream) -> None:
    _average()(readings)
    readings.to("copy")


def test_equal_programs_are_equal() -> None:
    assert _fingerprint(_average()) == _fingerprint(_average("60 seconds"))
    assert _fingerprint(_average()).digest == _fingerprint(_average()).digest


def test_stateless_operators_and_new_sinks_may_change() -> None:
    old = _fingerprint(_average())
    assert _fingerprint(_filtered).changes_since(old) == ()
    assert _fingerprint(_with_another_sink).changes_since(old) == ()


def test_changed_state_is_said_in_words() -> None:
    old = _fingerprint(_average())
    (change,) = _fingerprint(_average("2 minutes")).changes_since(old)
    assert change.startswith("readings-aggregate: state 1 was ")
    assert "tumbling 1 minute, grace 0 ms" in change
    assert "tumbling 2 minutes" in change
    (change,) = _fingerprint(_counted_too).changes_since(old)
    assert "n=count(*)" in change


def test_another_topic_is_another_stage() -> None:
    changes = _fingerprint(_average(), "others").changes_since(_fingerprint(_average()))
    assert changes[0] == "readings-aggregate: reads is gone; it was 'stream readings'"


def test_it_is_kept_as_json() -> None:
    old = _fingerprint(_average())
    assert Fingerprint.from_json(old.to_json()) == old


@pytest.mark.parametrize("name", PROGRAMS)
def test_fingerprints_are_those_that_checkpoints_have(name: str) -> None:
    # Recorded by the version that wrote them: a change here refuses what users have on disk.
    recorded = json.loads(Path(__file__).with_name("fingerprints.json").read_text("utf-8"))
    assert dict(app_of(name).fingerprint().parts) == recorded[name]
