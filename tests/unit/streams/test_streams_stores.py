"""Which topic the store of a table follows, and what is written for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.plan.formats import Format
from headwater.plan.nodes import StoreSink
from headwater.plan.schemas.types import BIGINT, STRING, TIMESTAMP, Struct
from headwater.stores import FollowedTable, StoreError, UnknownStoreError
from headwater.stores.opening import default_directory
from headwater.streams import App, KStream, PlanError, tumbling


def app_with(tmp_path: Path) -> tuple[App, KStream]:
    app = App("app", bootstrap_servers="127.0.0.1:1", stores_dir=tmp_path)
    return app, app.stream("readings", value_type="value bigint")


def followed(app: App, name: str) -> FollowedTable:
    return app._builder.stores[name]


def test_a_table_of_a_topic_is_followed_there(tmp_path: Path) -> None:
    app, stream = app_with(tmp_path)
    app.table("units", key="long", value_type="unit string").store("units")
    table = followed(app, "units")
    assert (table.topic, table.batches, table.windowed) == ("units", None, False)
    assert (table.key.format, table.key.type) == (Format("long"), BIGINT)
    stream.to("out")
    assert len(app.plan().sinks) == 1, "nothing is written for it"


def test_another_table_is_written_to_a_topic_of_its_own(tmp_path: Path) -> None:
    app, stream = app_with(tmp_path)
    stream.group_by_key().count().store("counts")
    table = followed(app, "counts")
    assert (table.topic, table.batches) == ("app-counts-changelog", "app-batches")
    assert table.value.type == Struct.of(count=BIGINT)
    (sink,) = app.plan().sinks
    assert isinstance(sink, StoreSink)
    assert (sink.topic, sink.key_format, sink.value_format) == (
        table.topic, Format("string"), Format("json"),
    )  # fmt: skip
    assert "Sink: KTABLE-STORE-0000000002 (topic: app-counts-changelog)" in app.describe()


def test_the_windows_of_a_key_are_keys_of_the_topic(tmp_path: Path) -> None:
    app, stream = app_with(tmp_path)
    windows = stream.group_by_key().windowed_by(tumbling("1 minute")).count()
    windows.map_values("*", twice="count * 2").store("counts")
    table = followed(app, "counts")
    assert table.windowed
    assert isinstance(table.key.type, Struct)
    assert [(field.name, field.type) for field in table.key.type.fields] == [
        ("key", STRING),
        ("window_start", TIMESTAMP),
        ("window_end", TIMESTAMP),
    ]
    app.plan()


def test_rows_that_forgot_their_window_are_refused(tmp_path: Path) -> None:
    _, stream = app_with(tmp_path)
    windows = stream.group_by_key().windowed_by(tumbling("1 minute")).count()
    with pytest.raises(PlanError, match="store the table before the filter"):
        windows.filter("count > 1").store("many")


@pytest.mark.parametrize("name", ["", "a/b", "a b", "a" * 201])
def test_names_that_are_no_files_are_refused(tmp_path: Path, name: str) -> None:
    app, _ = app_with(tmp_path)
    with pytest.raises(PlanError, match="cannot name a store, since a file is named after it"):
        app.table("units", value="string").store(name)


def test_keys_without_an_order_are_refused(tmp_path: Path) -> None:
    _, stream = app_with(tmp_path)
    table = stream.group_by("map('a', value)").count()
    with pytest.raises(PlanError, match=r"the key is of type map.*cast it to a string"):
        table.store("counts")


def test_stores_are_asked_for_by_name_and_kind(tmp_path: Path) -> None:
    app, stream = app_with(tmp_path)
    app.table("units", value="string").store("units")
    stream.group_by_key().windowed_by(tumbling("1 minute")).count().store("counts")
    assert app.stores.names == ("counts", "units")
    with pytest.raises(UnknownStoreError, match=r"no store 'unit' \(there are: counts, units\)"):
        app.store("unit")
    with pytest.raises(StoreError, match="has windows: use window_store"):
        app.store("counts")
    with pytest.raises(StoreError, match="has no windows: use store"):
        app.window_store("units")
    assert default_directory("app") == Path.home() / ".headwater" / "stores" / "app"
