"""The SQL of the JDBC connectors: what is asked for, written and refused, for each database."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from headwater.config import Values
from headwater.connect.connectors.connector import ConnectorError
from headwater.connect.connectors.jdbc.column_types import Columns, NumericMapping
from headwater.connect.connectors.jdbc.dialects.dialect import Dialect
from headwater.connect.connectors.jdbc.dialects.known import DIALECTS, dialect_of
from headwater.connect.connectors.jdbc.offset import TableOffset
from headwater.connect.connectors.jdbc.progress import Progress
from headwater.connect.connectors.jdbc.relation import chosen
from headwater.connect.connectors.jdbc.sink_settings import SINK_DEFINITIONS, check_sink
from headwater.connect.connectors.jdbc.source_settings import SOURCE_DEFINITIONS, check_source
from headwater.connect.connectors.jdbc.table import Column, TableId
from headwater.connect.data import schema as connect
from headwater.connect.data.schema import Type

MARIADB, POSTGRESQL, SQLITE = DIALECTS
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def test_rows_are_taken_by_number_and_time_up_to_the_last_that_was_seen() -> None:
    both = Progress(POSTGRESQL, "t", "id", "at", ZoneInfo("Europe/Zurich"))
    last = both.last(TableOffset(7, NOON), NOON)
    moment = "TIMESTAMP '2026-01-01 13:00:00.000000'"
    assert last == (
        f"SELECT at, id FROM t WHERE (at > {moment} OR (at = {moment} AND id > 7))"
        f" AND at IS NOT NULL AND at < {moment} ORDER BY at DESC, id DESC LIMIT 1"
    )
    assert both.rows("*", None, TableOffset(9, NOON), " FOR SHARE") == (
        f"SELECT * FROM t WHERE (at < {moment} OR (at = {moment} AND id <= 9))"
        " ORDER BY at, id FOR SHARE"
    )
    assert both.read(["2026-01-01 13:00:00.5", "3"]) == TableOffset(
        3, NOON.replace(microsecond=500_000)
    )
    number = Progress(MARIADB, "t", "id", None)
    assert number.last(None, None) == (
        "SELECT id FROM t WHERE id IS NOT NULL ORDER BY id DESC LIMIT 1"
    )
    assert number.nth(TableOffset(5), TableOffset(9), 3) == (
        "SELECT id FROM t WHERE id > 5 AND id <= 9 ORDER BY id LIMIT 1 OFFSET 2"
    )


def test_each_database_upserts_in_its_own_way() -> None:
    upserts = {each.name: each.upsert("t", ["a", "k"], ["k"]) for each in DIALECTS}
    assert upserts == {
        "MySqlDatabaseDialect": "INSERT INTO t (`a`, `k`) VALUES (?, ?)"
        " ON DUPLICATE KEY UPDATE `a` = VALUES(`a`)",
        "PostgreSqlDatabaseDialect": 'INSERT INTO t ("a", "k") VALUES (?, ?)'
        ' ON CONFLICT ("k") DO UPDATE SET "a" = EXCLUDED."a"',
        "SqliteDatabaseDialect": 'INSERT INTO t ("a", "k") VALUES (?, ?)'
        ' ON CONFLICT ("k") DO UPDATE SET "a" = EXCLUDED."a"',
    }
    assert POSTGRESQL.upsert("t", ["k"], ["k"]).endswith("DO NOTHING")
    other = dialect_of("jdbc:h2:mem:", "com.h2database:h2:2.3.232", "org.h2.Driver")
    assert other.insert('"t"', ['a"b']) == 'INSERT INTO "t" ("a""b") VALUES (?)'
    with pytest.raises(ConnectorError, match="cannot upsert"):
        other.upsert("t", ["a"], ["a"])
    with pytest.raises(ConnectorError, match=r"driver\.coordinate and driver\.class"):
        dialect_of("jdbc:h2:mem:")


@pytest.mark.parametrize(
    ("precision", "scale", "mapping", "expected"),
    [
        (2, 0, NumericMapping.PRECISION_ONLY, Type.INT8),
        (18, 0, NumericMapping.PRECISION_ONLY, Type.INT64),
        (19, 0, NumericMapping.BEST_FIT, Type.BYTES),
        (9, 2, NumericMapping.PRECISION_ONLY, Type.BYTES),
        (9, 2, NumericMapping.BEST_FIT, Type.FLOAT64),
        (30, 2, NumericMapping.BEST_FIT, Type.BYTES),
        (30, 2, NumericMapping.BEST_FIT_EAGER_DOUBLE, Type.FLOAT64),
        (9, 0, NumericMapping.NONE, Type.BYTES),
    ],
)
def test_numbers_become_what_the_mapping_says(
    precision: int, scale: int, mapping: NumericMapping, expected: Type
) -> None:
    column = Column("n", 2, "NUMERIC", precision, scale, True, False, False)
    columns = Columns("t", [column], Dialect(), mapping=mapping, zone="UTC")
    (field,) = columns.schema.fields
    assert field.schema.type is expected
    assert (field.schema.logical == connect.DECIMAL) == (expected is Type.BYTES)


def test_a_column_without_a_type_in_connect_is_left_out() -> None:
    known = Column("id", 4, "INTEGER", 10, 0, True, False, True)
    odd = Column("shape", 1111, "geometry", 0, 0, True, True, False)
    uuid = Column("u", 1111, "uuid", 0, 0, True, True, False)
    columns = Columns("t", [known, odd, uuid], POSTGRESQL, mapping=NumericMapping.NONE, zone="UTC")
    assert (columns.names, columns.kinds) == (("id", "u"), ("int32", "string"))


def test_a_number_without_limits_has_eighteen_decimals() -> None:
    column = Column("n", 2, "numeric", 0, 0, True, False, False)
    columns = Columns("t", [column], POSTGRESQL, mapping=NumericMapping.NONE, zone="UTC")
    assert columns.kinds == ("decimal@18",)


def test_tables_are_chosen_by_name_or_pattern() -> None:
    tables = [TableId("shop", None, name) for name in ("orders", "items", "old_items")]

    def names(**given: str) -> list[str]:
        lists = {f"table.{name.replace('_', '.')}": value for name, value in given.items()}
        return [table.name for table in chosen(tables, Values(SOURCE_DEFINITIONS, lists))]

    assert names() == ["items", "old_items", "orders"]
    assert names(whitelist="items, shop.orders") == ["items", "orders"]
    assert names(blacklist="items") == ["old_items", "orders"]
    assert names(include_list=r"shop\..*items", exclude_list=r".*old.*") == ["items"]


def test_properties_that_do_not_go_together_are_named() -> None:
    def source(**given: str) -> list[str]:
        config = {name.replace("_", "."): value for name, value in given.items()}
        return [each.name for each in check_source(Values(SOURCE_DEFINITIONS, config))]

    def sink(**given: str) -> list[str]:
        config = {name.replace("_", "."): value for name, value in given.items()}
        return [each.name for each in check_sink(Values(SINK_DEFINITIONS, config))]

    url = "jdbc:sqlite:x.db"
    assert source() == ["connection.url", "mode"]
    assert source(connection_url=url, mode="timestamp") == ["timestamp.column.name"]
    assert source(connection_url=url, mode="bulk", query="SELECT 1") == ["topic.prefix"]
    both = source(connection_url=url, mode="bulk", table_whitelist="a", table_blacklist="b")
    assert both == ["table.whitelist", "table.blacklist"]
    assert sink(connection_url="jdbc:oracle:thin") == ["connection.url"]
    assert sink(connection_url=url, insert_mode="upsert") == ["pk.mode"]
    assert sink(connection_url=url, delete_enabled="true") == ["delete.enabled"]
    assert sink(connection_url=url, pk_mode="kafka", pk_fields="a") == ["pk.fields"]


def test_offsets_are_read_as_they_were_stored() -> None:
    offset = TableOffset(3, NOON.replace(microsecond=123456))
    assert TableOffset.of(offset.as_map()) == offset
    assert TableOffset.of({"timestamp": 1767268800000}) == TableOffset(None, NOON)
    with pytest.raises(ConnectorError, match="'x' is no whole number"):
        TableOffset.of({"incrementing": "x"})
