"""Programs that are refused as a whole: circles of topics, and outputs that cannot be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from headwater.streams import App, PlanError, tumbling

if TYPE_CHECKING:
    from headwater.streams import KStream

HERE = r"tests/unit/plan/test_plan_checks\.py:\d+"


def _stream(app: App, *topics: str) -> KStream:
    return app.stream(*topics, value="string")


def _refused(app: App, reason: str) -> None:
    with pytest.raises(PlanError, match=f"^{HERE}: {reason}"):
        app.plan()


def test_a_circle_over_two_topics_is_refused() -> None:
    app = App("app")
    _stream(app, "a").to("b")
    _stream(app, "b").to("a")
    _refused(app, f"'a' is read, 'b' is written from it at {HERE}, and 'a' from that: .* never end")


def test_a_circle_that_goes_through_a_topic_is_refused() -> None:
    app = App("app")
    _stream(app, "a").through("b").through("c").to("a")
    _refused(app, f"'a' is read, 'b' .* at {HERE}, 'c' .* at {HERE}, and 'a' from that")


def test_a_circle_of_one_topic_among_several_is_refused() -> None:
    app = App("app")
    _stream(app, "a", "b").merge(_stream(app, "c")).to("b")
    _refused(app, f"'b' is read at {HERE} and written from what was read")


def test_topics_that_part_and_meet_again_are_no_circle() -> None:
    app = App("app")
    _stream(app, "a").to("b")
    _stream(app, "a").to("c")
    _stream(app, "b", "c").to("d")
    _stream(app, "a", "d").to("e")
    _stream(app, "b").to("e")
    app.plan()


@pytest.mark.parametrize(
    ("first", "second"), [("out", "./out/"), ("/a/b", "file:///a/b"), ("s3a://b/c", "s3a://b/c/")]
)
def test_two_streams_into_one_folder_are_refused(first: str, second: str) -> None:
    app = App("app")
    _stream(app, "a").to_files(first)
    _stream(app, "b").to_files(second)
    _refused(app, f"the folder .* is written at {HERE} already: name another")


def test_two_tables_in_one_store_are_refused() -> None:
    app = App("app")
    app.table("a", value="string").store("latest")
    with pytest.raises(PlanError, match=f"the store 'latest' is written at {HERE} already: name"):
        _stream(app, "b").to_table().store("latest")


def test_outputs_of_their_own_are_not_refused() -> None:
    app = App("app")
    table = app.table("a", value="string")
    table.to_stream().to_table().store("latest")
    table.to_stream().to_table().store("latest.too")
    table.to_stream().to_files("latest")
    table.to_stream().to_files("s3a://latest")
    assert len(app.plan().sinks) == 4


def test_files_of_results_that_never_become_final_are_refused() -> None:
    app = App("app")
    counts = _stream(app, "a").group_by_key().count().to_stream()
    counts.filter("count > 1").to_files("folder")
    _refused(app, f"files are only added to, and .* the aggregate at {HERE} .* windowed_by")


@pytest.mark.parametrize(
    "results",
    [
        lambda groups: groups.count(emit="record"),
        lambda groups: groups.reduce("new"),
        lambda groups: groups.windowed_by(tumbling("1 s")).count(),
        lambda groups: groups.windowed_by(tumbling("1 s")).count().suppress(),
        # The first one is followed through a topic of its own.
        lambda groups: groups.count().to_stream().group_by_key().count(emit="record"),
    ],
)
def test_files_of_changes_and_of_windows_are_not_refused(results: Any) -> None:
    app = App("app")
    results(_stream(app, "a").group_by_key()).to_stream().to_files("folder")
    app.plan()


@pytest.mark.parametrize(
    ("kafka", "reason"),
    [
        ({"bootstrap.servers": "there:1"}, "bootstrap.servers=there:1: .* --bootstrap-server"),
        ({"metadata.broker.list": "there:1"}, "metadata.broker.list=there:1"),
        ({"isolation.level": "read_uncommitted"}, "isolation.level=read_uncommitted: .* leave it"),
    ],
)
def test_client_settings_that_are_not_open_are_refused(kafka: dict[str, str], reason: str) -> None:
    app = App("app", kafka=kafka)
    _stream(app, "a").to("b")
    with pytest.raises(PlanError, match=f"^kafka= has {reason}"):
        app.plan()
