"""Change events without a database: schemas, keys that change, positions, and Avro of envelopes."""

from __future__ import annotations

from fastavro.schema import parse_schema

from headwater.connect.connectors.debezium.change import Change, Op
from headwater.connect.connectors.debezium.events import change_events
from headwater.connect.connectors.debezium.mysql import origin
from headwater.connect.connectors.debezium.mysql.columns import Described, TableMaker
from headwater.connect.connectors.debezium.mysql.position import Position
from headwater.connect.connectors.debezium.postgresql.pgoutput import Relation, decoded
from headwater.connect.connectors.debezium.selection import Names, Selection
from headwater.connect.connectors.debezium.value_types import Handling
from headwater.connect.converters.avro_schemas import as_avro, from_avro

EVERY = Names((), ())
MAKER = TableMaker(
    Selection("dbz", EVERY, EVERY, EVERY),
    Handling("precise", "adaptive_time_microseconds", "bytes"),
    precise_bigints=False,
)
ORDERS = MAKER.table(
    "shop",
    "orders",
    [
        Described("id", "int", is_nullable=False, is_key=True),
        Described("item", "varchar", is_nullable=True),
    ],
)
SOURCE = origin.schema("mysql")
AT = origin.Origin("mysql", "dbz").values("shop", "orders", Position("binlog.1", 4), 1000)


def told(*changes: Change, tombstones: bool = True) -> list[tuple[str | None, object]]:
    (records,) = change_events(changes, SOURCE, tombstones=tombstones)
    rows = records.columns.to_pylist()
    return [(None if row["value"] is None else row["value"]["op"], row["key"]) for row in rows]


def test_a_changed_key_is_a_delete_and_a_create() -> None:
    change = Change(ORDERS, Op.UPDATE, (1, "a"), (2, "a"), AT)
    deleted, created = ("d", {"id": 1}), ("c", {"id": 2})
    assert told(change) == [deleted, (None, {"id": 1}), created]
    assert told(change, tombstones=False) == [deleted, created]


def test_a_table_without_a_key_has_no_keys_and_no_tombstones() -> None:
    table = MAKER.table("shop", "log", [Described("text", "text", is_nullable=True)])
    (records,) = change_events(
        [Change(table, Op.DELETE, ("a",), None, AT)], SOURCE, tombstones=True
    )
    assert records.shape.key is None
    assert [row["value"]["op"] for row in records.columns.to_pylist()] == ["d"]


def test_the_envelope_is_valid_avro_and_comes_back() -> None:
    (records,) = change_events(
        [Change(ORDERS, Op.CREATE, None, (1, "a"), AT)], SOURCE, tombstones=True
    )
    envelope = records.shape.value
    assert envelope is not None
    avro = as_avro(envelope)
    parse_schema(avro)  # refuses a record that is described twice
    assert avro["fields"][1]["type"] == ["null", "dbz.shop.orders.Value"]
    assert from_avro(avro) == envelope


def test_lists_choose_by_whole_names_in_any_case() -> None:
    names = Names((r"shop\.order.*",), ())
    assert [each in names for each in ("shop.Orders", "my.shop.orders", "shop.x")] == [
        True,
        False,
        False,
    ]
    assert "shop.orders" not in Names((), ("shop.orders",))


def test_messages_of_pgoutput() -> None:
    column = b"\x01id\0" + (23).to_bytes(4, "big") + (-1).to_bytes(4, "big", signed=True)
    message = b"R" + (7).to_bytes(4, "big") + b"public\0t\0d" + (1).to_bytes(2, "big") + column
    relation = decoded(message)
    assert isinstance(relation, Relation)
    assert (relation.schema, relation.name, relation.identity) == ("public", "t", "d")
    assert relation.columns == ((True, "id", 23, -1),)
    assert decoded(b"O" + bytes(8) + b"x\0") is None, "an origin tells nothing about rows"
