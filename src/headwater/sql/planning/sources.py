"""Sources of a query as operators that read their topics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.plan.expressions.expressions import Column, Expression
from headwater.plan.nodes import Map, TopicSource
from headwater.plan.rows import RowType
from headwater.plan.schemas.types import Field, Struct
from headwater.sql.metastore.source import PSEUDO_COLUMNS, WINDOW_BOUNDS
from headwater.sql.planning.records import Records
from headwater.sql.planning.rows import Rows, struct_or_null
from headwater.sql.planning.wire_types import kept_type
from headwater.sql.tree.statements.creation import SourceKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.plan.nodes import Operator
    from headwater.sql.analysis.query.analysed import ReadSource
    from headwater.sql.planning.numbering import Numbering


def read(source: ReadSource, numbering: Numbering) -> Rows:
    """Return the rows of a source, as they are in its topic but for times, which are such."""
    records = Records(source.source)
    is_stream = source.kind is SourceKind.STREAM
    node: Operator = numbering.add(
        TopicSource, "KSTREAM-SOURCE" if is_stream else "KTABLE-SOURCE", (), records.wire_row,
        topics=(source.source.topic,), kind="stream" if is_stream else "table",
        key_format=records.key_format, value_format=records.value_format,
        timestamp_by=records.timestamp_by,
    )  # fmt: skip
    times = records.read()
    if times:
        kind = "KSTREAM-MAP" if is_stream else "KTABLE-MAP"
        node = numbering.add(Map, kind, (node,), records.row, **times)
    columns = {(source.alias, name): records.column(name) for name in records.names}
    return Rows(node, columns, window=_window(source, columns))


def _window(
    source: ReadSource, columns: Mapping[tuple[str, str], Expression]
) -> tuple[Expression, Expression] | None:
    if not source.source.is_windowed:
        return None
    return columns[source.alias, "WINDOWSTART"], columns[source.alias, "WINDOWEND"]


def prefixed(source: ReadSource, numbering: Numbering) -> Rows:
    """Return the rows of a source with all columns in the value, under names with the alias."""
    rows = read(source, numbering)
    types = {column.name: column.type for column in source.source.columns}
    types |= PSEUDO_COLUMNS | WINDOW_BOUNDS
    fields = [
        (f"{alias}_{name}", types[name], expression)
        for (alias, name), expression in rows.columns.items()
    ]
    struct = Struct(tuple(Field(name, kept_type(type_)) for name, type_, _ in fields))
    node = numbering.add(
        Map, "KSTREAM-MAPVALUES" if source.kind is SourceKind.STREAM else "KTABLE-MAPVALUES",
        (rows.node,), RowType(rows.node.row.key, struct),
        value=struct_or_null([(name, expression) for name, _, expression in fields]),
    )  # fmt: skip
    columns = in_value(rows)
    return Rows(node, columns, window=_window(source, columns))


def in_value(rows: Rows) -> dict[tuple[str, str], Expression]:
    """Return where columns are after `prefixed`, or after joins of such rows."""
    return {
        (alias, name): Column(("record", "value", f"{alias}_{name}"))
        for alias, name in rows.columns
    }
