"""Queries as plans: the operators, and what their expressions are in Spark SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from tests.unit.sql.sql_sessions import stored

from headwater.plan.expressions.scope import Scope
from headwater.plan.nodes import (
    Aggregate,
    ChangelogMode,
    Changes,
    Filter,
    ForeignKeyJoin,
    Map,
    Operator,
    StreamStreamJoin,
    StreamTableJoin,
    TableAggregate,
    TableFilter,
    TableTableJoin,
    TopicSink,
    TopicSource,
)
from headwater.plan.schemas.types import Struct
from headwater.plan.splitting.stages import split
from headwater.plan.windows import Window
from headwater.serde.arrow.bare_protobuf import BareProtobuf
from headwater.serde.formats.protobuf_codec import load_bare_file
from headwater.spark.formats.protobuf_schema import protobuf_schema
from headwater.sql.errors import SqlError
from headwater.sql.planning.plans import plan_queries
from headwater.sql.planning.wire_types import forms_of, wire_type
from headwater.sql.types import sql_type as sql
from headwater.sql.types.plan_types import to_plan

if TYPE_CHECKING:
    from headwater.plan.plan import Plan


def planned(text: str, before: str = "") -> Plan:
    return plan_queries("test", [stored(f"CREATE {text};", before)])


def only(plan: Plan, class_: type[Operator]) -> Operator:
    (found,) = (node for node in plan.walk() if isinstance(node, class_))
    return found


def test_a_filter_and_a_projection_are_the_operators_of_the_dsl() -> None:
    plan = planned("STREAM o AS SELECT id, amount * 2 AS twice FROM orders WHERE amount > 3")
    source, condition, projection, sink = plan.walk()
    assert isinstance(source, TopicSource)
    assert (source.topics, source.kind, source.key_format.kind) == (("orders",), "stream", "string")
    assert isinstance(condition, Filter)
    scope = Scope.of_record(source.row)
    assert condition.predicate.sql(scope) == (  # type: ignore[union-attr]
        "coalesce(value.`AMOUNT` > CAST(3 AS int), false)"
    )
    assert isinstance(projection, Map)
    assert projection.key is None
    assert isinstance(sink, TopicSink)
    assert (sink.topic, sink.value_format.kind) == ("O", "json")
    assert sink.row.value.ddl() == "struct<TWICE:int>"
    assert len(split(plan)) == 1


@pytest.mark.parametrize(
    ("expression", "sql"),
    [
        ("price + 1", "try_cast(try_add(value.`PRICE`, CAST(1 AS int)) AS decimal(13,2))"),
        (
            "amount + 1",
            "CAST(((try_add(try_cast(value.`AMOUNT` AS bigint), try_cast(CAST(1 AS int) AS bigint))"
            " & 4294967295L) ^ 2147483648L) - 2147483648L AS int)",
        ),
        ("amount / 2", "try_cast(value.`AMOUNT` DIV nullif(CAST(2 AS int), 0) AS int)"),
        ("NOT (item = 1)", "(NOT coalesce(value.`ITEM` = CAST(1 AS int), false))"),
        ("address->city", "(value.`ADDRESS`).`CITY`"),
        ("UCASE(item_name)", "upper(value.`ITEM_NAME`)"),
        ("rowtime", "unix_millis(timestamp)"),
        ("CAST(price AS STRING)", "try_cast(value.`PRICE` AS string)"),
        (
            "FILTER(tags, t => t = 'a')",
            "filter(value.`TAGS`, `T` -> coalesce(`T` = CAST('a' AS string), false))",
        ),
        ("STRUCT(a := item)", "named_struct('A', value.`ITEM`)"),
        ("STRUCT(`{a}` := '{0}')->`{a}`", "(named_struct('{a}', CAST('{0}' AS string))).`{a}`"),
    ],
)
def test_expressions_are_spark_sql_with_ksqldb_s_nulls(expression: str, sql: str) -> None:
    plan = planned(f"STREAM o AS SELECT id, {expression} AS x FROM orders")
    projection = only(plan, Map)
    assert isinstance(projection, Map)
    (source,) = plan.sources()
    text = projection.value.sql(Scope.of_record(source.row))  # type: ignore[union-attr]
    assert text == f"CASE WHEN isnotnull(value) THEN named_struct('X', {sql}) END"


def test_partition_by_makes_the_key() -> None:
    plan = planned("STREAM o AS SELECT * FROM payments PARTITION BY amount")
    projection = only(plan, Map)
    assert projection.row.key.ddl() == "int"
    assert projection.changes_key
    sink = only(plan, TopicSink)
    assert isinstance(sink, TopicSink)
    assert sink.key_format.kind == "int"


def test_groups_are_aggregates_that_emit_every_change() -> None:
    plan = planned(
        "TABLE o AS SELECT item, COUNT(*) AS n, SUM(amount) AS total FROM orders "
        "WINDOW TUMBLING (SIZE 1 MINUTE) GROUP BY item"
    )
    aggregate = only(plan, Aggregate)
    assert isinstance(aggregate, Aggregate)
    assert aggregate.emit == "record"
    assert isinstance(aggregate.window, Window)
    assert (aggregate.window.size_ms, aggregate.window.is_tumbling) == (60_000, True)
    assert [str(each) for _, each in aggregate.aggregations] == [
        "count(*)",
        "sum(record.value.AMOUNT)",
    ]
    sink = only(plan, TopicSink)
    assert isinstance(sink, TopicSink)
    assert (sink.key_format.kind, sink.key_format.window) == ("int", "time")
    assert sink.row.key.ddl() == "struct<key:int,window_start:bigint>"
    assert sink.row.value.ddl() == "struct<N:bigint,TOTAL:int>"


def test_a_table_s_groups_take_old_values_back() -> None:
    plan = planned("TABLE o AS SELECT maker, COUNT(*) AS n FROM items GROUP BY maker")
    aggregate = only(plan, TableAggregate)
    assert isinstance(aggregate, TableAggregate)
    by = aggregate.by.sql(Scope.of_record(aggregate.parents[0].row))
    assert by == "CASE WHEN isnotnull(value) THEN value.`MAKER` END"


def test_a_right_join_is_a_left_join_the_other_way_round() -> None:
    join = only(
        planned(
            "STREAM o AS SELECT p.id, item FROM orders o RIGHT JOIN payments p "
            "WITHIN (1 HOUR, 2 HOURS) ON o.id = p.id"
        ),
        StreamStreamJoin,
    )
    assert isinstance(join, StreamStreamJoin)
    assert (join.kind, join.before_ms, join.after_ms) == ("left", 7_200_000, 3_600_000)
    assert isinstance(join.row.value, Struct)
    assert join.row.value.names[0] == "P_ID"


@pytest.mark.parametrize(
    ("grace", "kept", "unmatched"),
    [("", 86_400_000 - 7_200_000, "at once"), (" GRACE PERIOD 1 MINUTE", 60_000, "in the end")],
)
def test_a_join_without_a_grace_does_not_wait(grace: str, kept: int, unmatched: str) -> None:
    query = f"SELECT o.id, paid FROM orders o LEFT JOIN payments p WITHIN 1 HOUR{grace}"
    join = only(planned(f"STREAM o AS {query} ON o.id = p.id"), StreamStreamJoin)
    assert isinstance(join, StreamStreamJoin)
    assert (join.grace_ms, join.unmatched) == (kept, unmatched)


@pytest.mark.parametrize(
    ("query", "class_"),
    [
        (
            "STREAM o AS SELECT o.id, paid FROM orders o JOIN payments p WITHIN 1 HOUR "
            "ON o.id = p.id",
            StreamStreamJoin,
        ),
        (
            "STREAM o AS SELECT o.item, name FROM orders o LEFT JOIN items i ON o.item = i.item",
            StreamTableJoin,
        ),
        (
            "TABLE o AS SELECT i.item, pieces FROM items i JOIN stock s ON i.item = s.item",
            TableTableJoin,
        ),
        (
            "TABLE o AS SELECT i.item, m.name FROM items i JOIN makers m ON i.maker = m.maker",
            ForeignKeyJoin,
        ),
    ],
)
def test_joins_are_those_of_the_dsl(query: str, class_: type[Operator]) -> None:
    plan = planned(query)
    join = only(plan, class_)
    assert {field.name.partition("_")[0] for field in join.row.value.fields} <= {  # type: ignore[union-attr]
        "O", "P", "I", "S", "M",
    }  # fmt: skip
    split(plan)


def test_a_session_has_its_end_in_the_key() -> None:
    plan = planned("TABLE o AS SELECT id, COUNT(*) FROM orders WINDOW SESSION (1 HOUR) GROUP BY id")
    sink = only(plan, TopicSink)
    assert isinstance(sink, TopicSink)
    assert sink.key_format.window == "session"
    assert sink.row.key.ddl() == "struct<key:string,window_start:bigint,window_end:bigint>"


def test_aggregates_are_those_of_the_dsl_with_their_options() -> None:
    plan = planned(
        "TABLE o AS SELECT id, TOPK(amount, item, 2) AS t, LATEST_BY_OFFSET(item, 3, false) AS l, "
        "COLLECT_SET(item) AS c, CORRELATION(amount, item) AS r FROM orders GROUP BY id"
    )
    aggregate = only(plan, Aggregate)
    assert isinstance(aggregate, Aggregate)
    amount, item = "record.value.AMOUNT", "record.value.ITEM"
    assert [str(each) for _, each in aggregate.aggregations] == [
        f"topk({amount}, {item}, 2)",
        f"latest_by_offset({item}, 3, with nulls)",
        f"collect_set({item}, with nulls)",
        f"correlation({amount}, {item})",
    ]


@pytest.mark.parametrize("count", ["0", "amount"])
def test_how_many_values_are_kept_is_written_out(count: str) -> None:
    with pytest.raises(SqlError, match="TOPK needs a whole number above 0 that is written out"):
        planned(f"TABLE o AS SELECT id, TOPK(amount, {count}) AS t FROM orders GROUP BY id")


def test_a_table_s_filter_remembers_what_was_in() -> None:
    kept = only(planned("TABLE o AS SELECT item, name FROM items WHERE item > 3"), TableFilter)
    assert isinstance(kept.parents[0], Changes)
    having = planned("TABLE o AS SELECT id, COUNT(*) FROM orders GROUP BY id HAVING COUNT(*) > 1")
    assert only(having, TableFilter).changelog is ChangelogMode.UPSERT


def test_times_are_numbers_in_topics_of_json() -> None:
    plan = planned("STREAM o AS SELECT id, FROM_DAYS(amount) AS day FROM orders")
    sink = only(plan, TopicSink)
    assert sink.row.value.ddl() == "struct<DAY:int>"


def test_times_and_decimals_are_messages_in_protobuf_without_a_registry() -> None:
    known = load_bare_file(
        'syntax = "proto3"; import "google/type/date.proto"; import "google/type/timeofday.proto"; '
        'import "google/protobuf/timestamp.proto"; import "confluent/type/decimal.proto"; '
        "message Known { google.type.Date a = 1; google.type.TimeOfDay b = 2; "
        "google.protobuf.Timestamp c = 3; confluent.type.Decimal d = 4; }"
    ).class_named(None)
    types = (("a", sql.DATE), ("b", sql.TIME), ("c", sql.TIMESTAMP), ("d", sql.Decimal(4, 2)))
    wire = wire_type(sql.Struct(types), forms_of("PROTOBUF_NOSR"))
    values = {
        "a": {"year": 2026, "month": 2, "day": 28},
        "b": {"hours": 23, "minutes": 59, "seconds": 58, "nanos": 7_000_000},
        "c": {"seconds": -5, "nanos": 7_000_000},
        "d": {"value": b"\xff\x38", "precision": 4, "scale": 2},
    }
    ours = BareProtobuf(protobuf_schema(to_plan(wire)))
    (data,) = ours.encode(pa.array([values])).to_pylist()
    message: Any = known.FromString(data)
    assert data == message.SerializeToString(deterministic=True)
    assert (message.a.year, message.b.seconds, message.c.seconds) == (2026, 58, -5)
    assert (message.d.value, message.d.precision, message.d.scale) == (b"\xff\x38", 4, 2)


def test_times_of_the_day_are_numbers_between_operators() -> None:
    before = (
        "CREATE STREAM l (k TIME KEY, t TIME) WITH (kafka_topic='l', format='JSON');"
        "CREATE TABLE r (k TIME PRIMARY KEY, ts ARRAY<TIME>) WITH (kafka_topic='r', format='JSON');"
    )
    selected = "l.k, t, TIMEADD(MINUTES, 5, t) AS later, ts"
    plan = planned(f"STREAM o AS SELECT {selected} FROM l JOIN r ON l.k = r.k", before)
    for node in plan.walk():
        assert "time" not in node.row.value.ddl().replace("ROWTIME", "")
        assert node.row.key.ddl() == "int"
    made = [str(node.value) for node in plan.walk() if isinstance(node, Map)][-1]
    assert "time_from_millis(record.value.L_T)" in made
    assert "CAST(time_to_millis(" in made


def test_the_time_of_a_result_can_be_one_of_its_columns() -> None:
    plan = planned("STREAM o WITH (timestamp = 'at') AS SELECT id, rowtime AS at FROM orders")
    timed = [node for node in plan.walk() if isinstance(node, Map) and node.timestamp is not None]
    assert [str(node.timestamp) for node in timed] == [
        "coalesce(timestamp_millis(record.value.AT), record.timestamp)"
    ]


def test_a_windowed_source_keeps_its_window() -> None:
    sink = only(planned("STREAM o AS SELECT * FROM hourly"), TopicSink)
    assert isinstance(sink, TopicSink)
    assert sink.key_format.window == "time"


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        (
            "STREAM o WITH (value_format = 'AVRO') AS "
            "SELECT id, PARSE_TIME('12', 'HH') FROM orders",
            "TIME in the AVRO format",
        ),
    ],
)
def test_what_cannot_run_yet_is_told(query: str, reason: str) -> None:
    with pytest.raises(SqlError, match=f"{reason}.*yet"):
        planned(query)
