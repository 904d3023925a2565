"""Rows in the formats whose schemas are in a registry."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.sql_process import SqlProcess


def test_columns_come_from_the_registry_and_rows_go_through_it(server: SqlProcess) -> None:
    server.run(
        "CREATE STREAM measured (id STRING KEY, value DOUBLE, p STRUCT<unit STRING>) "
        "WITH (kafka_topic='measured', value_format='AVRO', partitions=1);"
        "INSERT INTO measured VALUES ('a', 1.5, STRUCT(unit := 'bar'));"
        "CREATE STREAM inferred (id STRING KEY) "
        "WITH (kafka_topic='measured', value_format='AVRO');"
    )
    rows = server.select("SELECT id, value, p->unit FROM inferred;")
    assert rows == [["a", 1.5, "bar"]]
    statement = server.run("DESCRIBE inferred;")[0]["sourceDescription"]["statement"]
    assert "VALUE DOUBLE" in statement, "it is kept with its columns"


def test_rows_go_through_protobuf_with_a_registry_and_without(server: SqlProcess) -> None:
    columns = "day DATE, at TIME, seen TIMESTAMP, n DECIMAL(4, 2), x DOUBLE, tags ARRAY<STRING>"
    row = ["2026-02-28", "23:59:58", "2026-01-02T03:04:05.006", -2.0, 0.0, ["a"]]
    for format_ in ("PROTOBUF", "PROTOBUF_NOSR"):
        server.run(
            f"CREATE TABLE {format_}_rows (id INT PRIMARY KEY, {columns}) "
            f"WITH (kafka_topic='{format_}', format='{format_}', partitions=1);"
            f"INSERT INTO {format_}_rows VALUES (7, '2026-02-28', '23:59:58', "
            "'2026-01-02T03:04:05.006', -2.00, 0.0, ARRAY['a']);"
            f"INSERT INTO {format_}_rows (id) VALUES (8);"
        )
        assert server.select(f"SELECT * FROM {format_}_rows WHERE id = 7;") == [[7, *row]]
        assert server.select(f"SELECT * FROM {format_}_rows WHERE id = 8;") == [
            [8, None, None, None, None, 0.0, []]
        ]
    (described,) = server.run(
        "CREATE STREAM again WITH (kafka_topic='PROTOBUF', format='PROTOBUF'); DESCRIBE again;"
    )[1:]
    fields = described["sourceDescription"]["fields"]
    assert [(field["name"], field["schema"]["type"]) for field in fields] == [
        ("ID", "INTEGER"), ("DAY", "DATE"), ("AT", "TIME"), ("SEEN", "TIMESTAMP"), ("N", "STRUCT"),
        ("X", "DOUBLE"), ("TAGS", "ARRAY"),
    ]  # fmt: skip
