"""The app: its sources, its tables, its settings, and the plans it refuses."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest

from headwater.clients import RegistryAccess
from headwater.plan.expressions.python_function import PythonFunction
from headwater.plan.expressions.scope import Scope
from headwater.plan.nodes import ChangelogMode, Map, Start, StoreSink, TopicSource
from headwater.streams import App, KTable, PlanError, count, tumbling


def _source(app: App, **options: Any) -> TopicSource:
    node = app.stream("readings", value_type="id string, at timestamp, ms bigint", **options).node
    assert isinstance(node, TopicSource)
    return node


def test_sources() -> None:
    app = App("app")
    node = _source(app, dead_letter="malformed", timestamp_by="timestamp_millis(ms)")
    assert node.topics == ("readings",)
    assert (node.key_format.kind, node.value_format.kind) == ("string", "json")
    assert node.on_malformed.dead_letter_topic == "malformed"
    assert not node.on_malformed.fails
    assert node.start == Start("earliest")
    assert node.row.has_position
    many = app.stream("a", "b", key="long", value="bytes")
    assert many.row.key.ddl() == "bigint"
    assert many.row.value.ddl() == "binary"


def test_starts() -> None:
    app = App("app")
    at = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    assert _source(app, start="latest").start == Start("latest")
    assert _source(app, start=at).start == Start("timestamp", timestamp_ms=1_767_225_600_000)
    offsets = {"readings": {0: 42}}
    assert _source(app, start=offsets).start == Start("offsets", offsets=offsets)


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_BOOTSTRAP_SERVER", "here:1")
    monkeypatch.setenv("HEADWATER_REGISTRY", "http://there:2")
    settings = App("app", guarantee="exactly_once", checkpoint_dir="folder").settings
    assert settings.cluster.bootstrap_servers == "here:1"
    assert settings.registry is not None
    assert settings.registry.urls == ("http://there:2",)
    assert settings.guarantee == "exactly_once"
    assert settings.checkpoint_dir == Path("folder")
    assert App("app", bootstrap_servers="mine:3").settings.cluster.bootstrap_servers == "mine:3"


def test_what_lets_a_program_in_to_the_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_REGISTRY_CA", "ca.pem")
    app = App("app", registry_url="https://sr:1", registry={"basic.auth.user.info": "ada:secret"})
    assert app.settings.registry == RegistryAccess(
        ("https://sr:1",), username="ada", password="secret", ca_file="ca.pem"
    )
    with pytest.raises(PlanError, match=r"test_streams_app\.py:\d+: .*no setting .*no\.such"):
        App("app", registry={"no.such": "setting"})


def test_a_table_deletes_what_a_filter_refuses() -> None:
    table = App("app").table("units", value_type="unit string, n int")
    kept = table.filter("n > 1")
    assert isinstance(kept.node, Map)
    assert kept.node.changelog is ChangelogMode.UPSERT
    assert isinstance(kept.node.value, object)
    sql = kept.node.value.sql(Scope.of_record(table.row))  # type: ignore[union-attr]
    assert sql == "CASE WHEN (value.`n` > 1) THEN value END"
    python = table.filter_not(lambda value: value["n"] > 1).node
    assert isinstance(python, Map)
    assert isinstance(python.value, PythonFunction)
    assert python.value("k", {"unit": "kW", "n": 2}) is None
    assert python.value("k", {"unit": "kW", "n": 1}) == {"unit": "kW", "n": 1}
    assert python.value("k", None) is None


def test_a_deleted_key_stays_deleted() -> None:
    table = App("app").table("units", value_type="unit string, n int")
    mapped = table.map_values(twice="n * 2").node
    assert isinstance(mapped, Map)
    sql = mapped.value.sql(Scope.of_record(table.row))  # type: ignore[union-attr]
    assert sql == "CASE WHEN isnotnull(value) THEN named_struct('twice', (value.`n` * 2)) END"
    python = table.map_values(lambda value: value["n"], returns=int).node
    assert isinstance(python, Map)
    assert isinstance(python.value, PythonFunction)
    assert python.value("k", None) is None


def test_tables_and_streams_turn_into_each_other() -> None:
    app = App("app")
    table = app.stream("units", value_type="unit string").to_table(name="units-table")
    assert isinstance(table, KTable)
    assert table.node.changelog is ChangelogMode.UPSERT
    assert table.to_stream().node.changelog is ChangelogMode.APPEND
    table.store("units")
    (sink,) = app.plan().sinks
    assert isinstance(sink, StoreSink)
    assert sink.store == "units"


def test_a_windowed_table_that_loses_its_window_is_no_longer_windowed() -> None:
    readings = App("app").stream("readings", value_type="id string")
    table = readings.group_by_key().windowed_by(tumbling("1 s")).aggregate(n=count())
    assert table.filter("n > 1").row.windowed
    assert table.map_values("*", twice="n * 2").row.windowed
    assert not table.map_values("n").row.windowed


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (lambda: App("my app"), "cannot name an app"),
        (lambda: App("app", guarantee="maybe"), "there is no guarantee 'maybe'"),  # type: ignore[arg-type]
        (lambda: App("app").stream(), "name the topics one by one"),
        (lambda: App("app").stream(["a", "b"]), "name the topics one by one"),  # type: ignore[arg-type]
        (lambda: App("app").stream("a", "a"), "named twice"),
        (lambda: App("app").stream("a"), "json has no types of its own: give value_type"),
        (lambda: App("app").stream("a", value="yaml"), "there is no format 'yaml'"),
        (
            lambda: App("app").stream("a", value="string", value_type="int"),
            "which is string and not int",
        ),
        (lambda: App("app").stream("a", value_type="id strin"), "there is no type 'strin'"),
        (lambda: _source(App("app"), start="yesterday"), "neither 'earliest' nor 'latest'"),
        (
            lambda: _source(App("app"), start=datetime.datetime(2026, 1, 1)),  # noqa: DTZ001
            "needs a time zone",
        ),
        (lambda: _source(App("app"), start=42), "neither 'earliest' nor 'latest'"),
        (
            lambda: _source(App("app"), start=datetime.datetime(1960, 1, 1, tzinfo=datetime.UTC)),
            "is before 1970",
        ),
        (lambda: _source(App("app"), start={"other": {0: 1}}), "which this stream does not read"),
        (lambda: _source(App("app"), start={"readings": 1}), "give an offset by partition"),
        (lambda: _source(App("app"), start={"readings": {0: -1}}), "-1 as offset in 'readings'"),
        (lambda: _source(App("app"), start={"readings": {0: "1"}}), "'1' as offset"),
        (lambda: _source(App("app"), start={"readings": {-1: 1}}), "-1 as partition"),
        (lambda: _source(App("app"), start={"readings": {0: True}}), "True as offset"),
        (lambda: _source(App("app"), timestamp_by="ms"), "timestamp_millis(...) makes one"),
        (
            lambda: App("app", registry_url="http://localhost:9").stream("a", value="avro"),
            "the type of 'a-value' cannot be read",
        ),
        (lambda: App("app").table("a", value="string").store("../b"), "cannot name a store"),
        (lambda: App("app").table("a", value="string").store("b?mode=rw"), "cannot name a store"),
        (lambda: App("app").table("a", value="string").store(""), "cannot name a store"),
    ],
)
def test_what_is_refused(build: Any, reason: str) -> None:
    with pytest.raises(PlanError) as refused:
        build()
    assert reason in str(refused.value)
    assert refused.value.location.startswith("tests/unit/streams/test_streams_app.py:")


def test_an_app_that_writes_nowhere_is_refused() -> None:
    app = App("app")
    app.stream("readings", value_type="id string")
    with pytest.raises(PlanError, match="writes nowhere"):
        app.describe()


def test_an_app_that_reads_what_it_writes_is_refused() -> None:
    app = App("app")
    app.stream("a", value_type="id string").filter("id = 'x'").to("a")
    with pytest.raises(PlanError, match="this would never end"):
        app.plan()


def test_two_operators_of_one_name_are_refused() -> None:
    app = App("app")
    readings = app.stream("a", value_type="id string")
    readings.filter("id = 'x'", name="twice").to("b")
    readings.filter("id = 'y'", name="twice").to("c")
    with pytest.raises(PlanError, match="the name 'twice' is taken"):
        app.plan()


def test_no_spark_is_imported() -> None:
    import subprocess
    import sys

    program = (
        "import sys; from headwater.streams import App; app = App('a');"
        "app.stream('x', value='string').filter(\"value = 'a'\").to('y'); app.describe();"
        "assert not {'pyspark', 'pyarrow', 'pandas', 'py4j'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
