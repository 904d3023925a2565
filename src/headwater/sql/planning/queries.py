"""A stored query as operators, from the topics that it reads to the one that it fills."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headwater.plan.expressions.expressions import Case, Expression, StructOf
from headwater.plan.nodes import Changes, Filter, Map, TableFilter, TopicSink
from headwater.sql.analysis.query.analysed import ReadSource, relation_kind
from headwater.sql.metastore.source import WindowKind
from headwater.sql.planning.aggregates import aggregated, session_is_there
from headwater.sql.planning.casts import cast
from headwater.sql.planning.formulas import formula
from headwater.sql.planning.joins import joined
from headwater.sql.planning.records import Records
from headwater.sql.planning.rows import VALUE
from headwater.sql.planning.sources import prefixed, read
from headwater.sql.planning.table_functions import exploded, table_calls
from headwater.sql.planning.wire_types import kept
from headwater.sql.tree.queries import SessionWindow
from headwater.sql.tree.statements.creation import SourceKind
from headwater.sql.types.sql_type import BYTES

if TYPE_CHECKING:
    from headwater.plan.nodes import Operator
    from headwater.sql.analysis.outcomes import StoreQuery
    from headwater.sql.analysis.query.analysed import AnalysedQuery, SelectedColumn
    from headwater.sql.metastore.source import DataSource
    from headwater.sql.planning.numbering import Numbering
    from headwater.sql.planning.rows import Rows


def plan_query(stored: StoreQuery, numbering: Numbering) -> TopicSink:
    """Return the sink of a stored query, from which all of its operators are reached."""
    query, sink = stored.query, stored.sink
    kind = relation_kind(query.relation)
    calls = table_calls(column.value for column in query.selected)
    if not isinstance(query.relation, ReadSource):
        rows = joined(query.relation, numbering)
    elif calls:
        rows = prefixed(query.relation, numbering)
    else:
        rows = read(query.relation, numbering)
    if query.where is not None:
        rows = _filtered(rows, query, kind, numbering)
    if calls:
        rows = exploded(rows, calls, numbering)
    if query.group_by:
        rows = aggregated(rows, stored, kind, numbering)
    return _written(rows, query, sink, numbering)


def _filtered(rows: Rows, query: AnalysedQuery, kind: SourceKind, numbering: Numbering) -> Rows:
    """Return the rows for which WHERE holds; those of a table that do not are deleted."""
    assert query.where is not None
    predicate = rows.translator.translate(query.where)
    row = rows.node.row
    if kind is SourceKind.STREAM:
        kept = numbering.add(Filter, "KSTREAM-FILTER", (rows.node,), row, predicate=predicate)
        return replace(rows, node=kept)
    if query.group_by:
        # Groups remember what is in them by themselves.
        value = Case(((VALUE.isNotNull() & predicate, VALUE),))
        table = numbering.add(Map, "KTABLE-FILTER", (rows.node,), row, value=value)
        return replace(rows, node=table)
    return replace(rows, node=_remembering(rows.node, predicate, numbering))


def _remembering(table: Operator, predicate: Expression, numbering: Numbering) -> Operator:
    """Return the rows of a table for which a predicate holds, and tombstones for those it did."""
    row = replace(table.row, has_position=False)
    changes = numbering.add(Changes, "KTABLE-CHANGES", (table,), row)
    return numbering.add(TableFilter, "KTABLE-FILTER", (changes,), row, predicate=predicate)


def _written(rows: Rows, query: AnalysedQuery, sink: DataSource, numbering: Numbering) -> TopicSink:
    records = Records(sink)
    values = _values(rows, query, sink)
    made = values[0][1] if records.is_unwrapped else StructOf(tuple(values))
    # Groups for which HAVING does not hold are deleted; their windows are still in the key.
    is_there = VALUE.isNotNull()
    if isinstance(query.window, SessionWindow):
        is_there &= session_is_there()
    if query.having is not None:
        is_there &= rows.translator.translate(query.having)
    value = Case(((is_there, made),))
    key = _key(rows, query) if sink.window is None else _windowed_key(rows, query, sink)
    row = replace(records.row, has_position=False)
    node: Operator = numbering.add(Map, "KSTREAM-MAP", (rows.node,), row, key=key, value=value)
    if query.having is not None:
        node = _remembering(node, VALUE.isNotNull(), numbering)
    if records.written_timestamp is not None:
        at = records.written_timestamp
        node = numbering.add(Map, "KSTREAM-MAP", (node,), row, timestamp=at)
    times = records.written()
    if times:
        row = replace(records.wire_row, has_position=False)
        node = numbering.add(Map, "KSTREAM-MAP", (node,), row, **times)
    return numbering.add(
        TopicSink, "KSTREAM-SINK", (node,), row,
        topic=sink.topic, key_format=records.key_format, value_format=records.value_format,
    )  # fmt: skip


def _windowed_key(rows: Rows, query: AnalysedQuery, sink: DataSource) -> Expression:
    """Return the key with its window, which is a part of it in the topic."""
    assert rows.window is not None
    assert sink.window is not None
    start, end = rows.window
    fields = [("key", _struct(rows, query)), ("window_start", start)]
    if sink.window.kind is WindowKind.SESSION:
        fields.append(("window_end", end))
    return StructOf(tuple(fields))


def _values(rows: Rows, query: AnalysedQuery, sink: DataSource) -> list[tuple[str, Expression]]:
    """Return the value's columns, in the order and of the types of the sink."""
    selected = {column.name: column for column in query.selected if not column.is_key}
    found = []
    for column in sink.value:
        given = selected[column.name]
        translated = rows.translator.translate(given.value)
        made = cast(translated, given.value.type, column.type)
        found.append((column.name, kept(made, column.type)))
    return found


def _key(rows: Rows, query: AnalysedQuery) -> Expression | None:
    """Return the key, or None where it is the one that the rows have."""
    if not query.key:
        return formula("NULL", BYTES)
    if query.partition_by is not None:
        return _struct(rows, query)
    names = [column.name for column in query.columns if column.is_key]
    is_same = len(names) == 1 or names == [part.name for part in query.key]
    return None if is_same or query.group_by else _struct(rows, query)


def _struct(rows: Rows, query: AnalysedQuery) -> Expression:
    parts = [_part(rows, column) for column in _key_columns(query)]
    if len(parts) == 1:
        return parts[0][1]
    return StructOf(tuple(parts))


def _part(rows: Rows, column: SelectedColumn) -> tuple[str, Expression]:
    return column.name, kept(rows.translator.translate(column.value), column.value.type)


def _key_columns(query: AnalysedQuery) -> list[SelectedColumn]:
    by_name = {column.name: column for column in query.selected}
    return [by_name[column.name] for column in query.columns if column.is_key]
