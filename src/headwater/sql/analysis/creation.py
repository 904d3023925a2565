"""CREATE STREAM and CREATE TABLE over a topic: the source that the statement declares."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headwater.sql.analysis.key_windows import declared_window
from headwater.sql.analysis.properties import OF_SOURCES, Properties
from headwater.sql.analysis.source_checks import check_formats, timestamp_column
from headwater.sql.errors import SqlError
from headwater.sql.metastore.formats import FORMATS, ChosenFormat
from headwater.sql.metastore.schema_lookup import NoSchemas, SchemaLookup
from headwater.sql.metastore.source import (
    RESERVED_COLUMNS,
    DataSource,
    SourceColumn,
    key_role,
)
from headwater.sql.tree.statements.creation import (
    ColumnDefinition,
    ColumnRole,
    CreateSource,
    SourceKind,
)
from headwater.sql.types.named import resolve_type
from headwater.sql.types.sql_type import BYTES, HEADERS, Array, Map, SqlType, Struct

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_KAFKA = ChosenFormat(FORMATS["KAFKA"])


def declared_columns(
    statement: CreateSource, custom: Mapping[str, SqlType]
) -> tuple[SourceColumn, ...]:
    """Return the columns that a statement declares, the key's first.

    `custom` has the types of CREATE TYPE.
    """
    seen: set[str] = set()
    for column in statement.columns:
        _check(column, statement.kind, seen)
    _check_headers(statement.columns)
    columns = [_column(column, custom) for column in statement.columns]
    return tuple(sorted(columns, key=lambda column: not column.is_key))


def declared_source(
    statement: CreateSource,
    custom: Mapping[str, SqlType],
    settings: Mapping[str, str],
    schemas: SchemaLookup | None = None,
) -> DataSource:
    """Return the source that a statement declares; columns it leaves out are the registry's."""
    properties = Properties(statement.properties, OF_SOURCES)
    topic = properties.text("KAFKA_TOPIC")
    if topic is None:
        raise SqlError("the WITH clause has to say the topic: KAFKA_TOPIC", statement.location)
    columns = declared_columns(statement, custom)
    key_format = properties.format("KEY", None, settings) or _KAFKA
    value_format = properties.format("VALUE", None, settings)
    if value_format is None:
        raise SqlError(
            "the WITH clause has to say the format of values: VALUE_FORMAT, or FORMAT for both "
            "keys and values",
            statement.location,
        )
    _refuse_ids_beside_columns(columns, key_format, value_format, properties)
    source = DataSource(
        statement.name,
        statement.kind,
        columns,
        topic,
        key_format,
        value_format,
        declared_window(properties),
        wrap_single_value=properties.truth("WRAP_SINGLE_VALUE"),
        partitions=properties.number("PARTITIONS"),
        is_source=statement.is_source,
    )
    source = _with_inferred(source, schemas or NoSchemas())
    _check_whole(statement, source)
    source = replace(source, timestamp=timestamp_column(properties, source))
    check_formats(source, statement.location)
    return source


def _with_inferred(source: DataSource, schemas: SchemaLookup) -> DataSource:
    inferred: list[SourceColumn] = []
    if not source.key and source.key_format.format.is_in_registry:
        found = schemas.find(source.topic, source.key_format, is_key=True)
        if found is not None:
            inferred += _inferred_key(found, source)
    inferred += source.columns
    if not source.value and source.value_format.format.is_in_registry:
        found = schemas.find(source.topic, source.value_format, is_key=False)
        if isinstance(found, Struct) and source.wrap_single_value is not False:
            inferred += [
                SourceColumn(name, type_)
                for name, type_ in _in_capitals(found, source.value_format).fields
            ]
        elif found is not None:
            inferred.append(SourceColumn("ROWVAL", found))
    return replace(source, columns=tuple(inferred))


def _inferred_key(found: SqlType, source: DataSource) -> list[SourceColumn]:
    role = key_role(source.kind)
    # A Protobuf key is always a message; the others are read as one column that may be a struct.
    if isinstance(found, Struct) and source.key_format.name == "PROTOBUF":
        fields = _in_capitals(found, source.key_format).fields
        return [SourceColumn(name, type_, role) for name, type_ in fields]
    return [SourceColumn("ROWKEY", found, role)]


def _in_capitals(struct: Struct, chosen: ChosenFormat) -> Struct:
    """Return a struct with names as statements have them, unless its schema is given by id."""
    if chosen.schema_id is not None:
        return struct
    return Struct(tuple((name.upper(), _capitals(type_)) for name, type_ in struct.fields))


def _capitals(type_: SqlType) -> SqlType:
    match type_:
        case Array(element):
            return Array(_capitals(element))
        case Map(key, value):
            return Map(key, _capitals(value))
        case Struct(fields):
            return Struct(tuple((name.upper(), _capitals(part)) for name, part in fields))
        case _:
            return type_


def _check_whole(statement: CreateSource, source: DataSource) -> None:
    if not source.columns:
        raise SqlError(
            f"{source.name} has no columns: declare them, or choose a format whose schema is in "
            f"the registry under the topic {source.topic}",
            statement.location,
        )
    if source.kind is SourceKind.TABLE and not source.key:
        raise SqlError(
            "a table needs a PRIMARY KEY column: write PRIMARY KEY after its type",
            statement.location,
        )
    if source.window is not None and not source.key:
        raise SqlError("a source with windows needs a KEY column", statement.location)


def _refuse_ids_beside_columns(
    columns: tuple[SourceColumn, ...],
    key_format: ChosenFormat,
    value_format: ChosenFormat,
    properties: Properties,
) -> None:
    for side, chosen, declared in (
        ("KEY", key_format, any(column.is_key for column in columns)),
        ("VALUE", value_format, any(column.role is ColumnRole.VALUE for column in columns)),
    ):
        if chosen.schema_id is not None and declared:
            name = f"{side}_SCHEMA_ID"
            raise SqlError(
                f"{name} says the columns, and the statement declares them too: leave out one of "
                "the two",
                properties.location(name),
            )


def _column(column: ColumnDefinition, custom: Mapping[str, SqlType]) -> SourceColumn:
    type_ = resolve_type(column.type, custom)
    if column.role is ColumnRole.HEADER and type_ != BYTES:
        raise SqlError(f"a header is BYTES, not {type_}", column.type.location)
    if column.role is ColumnRole.HEADERS and type_ != HEADERS:
        raise SqlError(
            "all headers are ARRAY<STRUCT<key STRING, value BYTES>>", column.type.location
        )
    return SourceColumn(column.name, type_, column.role, column.header)


def _check_headers(columns: Iterable[ColumnDefinition]) -> None:
    """Refuse what ksqlDB refuses: a header in two columns, and any column after that of all."""
    headers = [
        column for column in columns if column.role in (ColumnRole.HEADER, ColumnRole.HEADERS)
    ]
    seen: set[str | None] = set()
    for column in headers:
        if None in seen:
            raise SqlError("Schema already contains a HEADERS column.", column.location)
        if column.header in seen:
            raise SqlError(
                f"Schema already contains a HEADER('{column.header}') column.", column.location
            )
        seen.add(column.header)


def _check(column: ColumnDefinition, kind: SourceKind, seen: set[str]) -> None:
    if column.name in seen:
        raise SqlError(f"there are two columns {column.name}", column.location)
    seen.add(column.name)
    if column.name in RESERVED_COLUMNS:
        raise SqlError(
            f"{column.name} is a column that every row has by itself: call this one otherwise",
            column.location,
        )
    if kind is SourceKind.STREAM and column.role is ColumnRole.PRIMARY_KEY:
        raise SqlError("a stream's column is a KEY, not a PRIMARY KEY", column.location)
    if kind is SourceKind.TABLE and column.role is ColumnRole.KEY:
        raise SqlError("a table's column is a PRIMARY KEY, not a KEY", column.location)
