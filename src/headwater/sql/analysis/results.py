"""The stream or table that CREATE ... AS SELECT makes: its topic, formats and columns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headwater.sql.analysis.properties import OF_QUERIES, Properties
from headwater.sql.analysis.query.analysed import sources_of
from headwater.sql.analysis.source_checks import check_formats, timestamp_column
from headwater.sql.errors import SqlError
from headwater.sql.metastore.formats import FORMATS, ChosenFormat
from headwater.sql.metastore.source import DataSource
from headwater.sql.types.sql_type import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.sql.analysis.query.analysed import AnalysedQuery
    from headwater.sql.metastore.schema_lookup import SchemaLookup
    from headwater.sql.tree.statements.creation import CreateAsSelect

_NONE = ChosenFormat(FORMATS["NONE"])
_KAFKA = ChosenFormat(FORMATS["KAFKA"])


def result_source(
    statement: CreateAsSelect,
    query: AnalysedQuery,
    settings: Mapping[str, str],
    schemas: SchemaLookup,
) -> DataSource:
    """Return the source that a query fills; its formats are the first source's unless given."""
    properties = Properties(statement.properties, OF_QUERIES)
    (first, *_) = sources_of(query.relation)
    source = DataSource(
        statement.name,
        statement.kind,
        query.columns,
        properties.text("KAFKA_TOPIC") or statement.name,
        window=query.key_window,
        wrap_single_value=properties.truth("WRAP_SINGLE_VALUE"),
        partitions=properties.number("PARTITIONS") or first.source.partitions,
    )
    value_format = properties.format(
        "VALUE", replace(first.source.value_format, schema_id=None), {}
    )
    assert value_format is not None
    source = replace(
        source,
        key_format=_key_format(source, properties, first.source.key_format, settings),
        value_format=value_format,
    )
    source = replace(source, timestamp=timestamp_column(properties, source))
    check_formats(source, statement.location)
    _check_schema(source, statement, schemas)
    return source


def _key_format(
    source: DataSource,
    properties: Properties,
    of_source: ChosenFormat,
    settings: Mapping[str, str],
) -> ChosenFormat:
    fallback = replace(of_source, schema_id=None)
    if of_source == _NONE and source.key:
        fallback = properties.format("KEY", None, settings) or _KAFKA
    chosen = properties.format("KEY", fallback, {})
    assert chosen is not None
    if not source.key and "KEY_FORMAT" not in properties and "FORMAT" not in properties:
        return _NONE
    return chosen


def _check_schema(source: DataSource, statement: CreateAsSelect, schemas: SchemaLookup) -> None:
    """Refuse columns that are not those of the schema that the statement names by its id."""
    if source.value_format.schema_id is None:
        return
    found = schemas.find(source.topic, source.value_format, is_key=False)
    if not isinstance(found, Struct):
        return
    given = [(column.name, column.type) for column in source.value]
    if given != list(found.fields[: len(given)]):
        raise SqlError(
            f"the columns are {', '.join(str(column) for column in source.value)}, and the schema "
            f"{source.value_format.schema_id} has {found}",
            statement.location,
        )
