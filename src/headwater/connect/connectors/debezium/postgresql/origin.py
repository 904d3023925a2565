"""The source of events of PostgreSQL: database, schema, transaction, place in the log."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import headwater
from headwater.connect.connectors.debezium.envelope import OPTIONAL_NUMBER, TEXT, source_schema

if TYPE_CHECKING:
    from headwater.connect.connectors.debezium.table import Table

SCHEMA = source_schema(
    "postgresql",
    {
        "schema": TEXT,
        "table": TEXT,
        "txId": OPTIONAL_NUMBER,
        "lsn": OPTIONAL_NUMBER,
        "xmin": OPTIONAL_NUMBER,
    },
)


class Origin(NamedTuple):
    """Which connector tells of which database."""

    prefix: str
    database: str

    def values(
        self,
        table: Table,
        lsn: int,
        ts_us: int,
        *,
        commit: int | None = None,
        xid: int | None = None,
        snapshot: str = "false",
    ) -> tuple[Any, ...]:
        """Return the values of the fields, in their order."""
        sequence = json.dumps([None if commit is None else str(commit), str(lsn)])
        times = (sequence, ts_us, ts_us * 1000)
        who = (headwater.__version__, "postgresql", self.prefix, ts_us // 1000, snapshot)
        return (*who, self.database, *times, table.owner, table.name, xid, lsn, None)
