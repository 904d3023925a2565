"""The source of events of MariaDB and MySQL: server, file, position, row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import headwater
from headwater.connect.connectors.debezium.envelope import (
    NUMBER,
    OPTIONAL_NUMBER,
    OPTIONAL_TEXT,
    TEXT,
    source_schema,
)
from headwater.connect.data.schema import Schema, Type

if TYPE_CHECKING:
    from headwater.connect.connectors.debezium.mysql.position import Position


def schema(connector: str) -> Schema:
    """Return the schema of the source, of `mysql` or `mariadb`."""
    own = {
        "table": OPTIONAL_TEXT,
        "server_id": NUMBER,
        "gtid": OPTIONAL_TEXT,
        "file": TEXT,
        "pos": NUMBER,
        "row": Schema(Type.INT32),
        "thread": OPTIONAL_NUMBER,
        "query": OPTIONAL_TEXT,
    }
    return source_schema(connector, own)


class Origin(NamedTuple):
    """Which connector tells."""

    connector: str
    prefix: str

    def values(
        self,
        database: str,
        table: str | None,
        position: Position,
        ts_ms: int,
        *,
        row: int = 0,
        server_id: int = 0,
        gtid: str | None = None,
        snapshot: str = "false",
    ) -> tuple[Any, ...]:
        """Return the values of the fields, in their order."""
        times = (None, ts_ms * 1000, ts_ms * 1_000_000)
        who = (headwater.__version__, self.connector, self.prefix, ts_ms, snapshot, database)
        where = (table, server_id, gtid, position.file, position.pos, row, None, None)
        return (*who, *times, *where)
