"""What every source is checked for, whether declared or made by a query: formats, its time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.sql.errors import SqlError
from headwater.sql.metastore.formats import FORMATS, check_key_types
from headwater.sql.metastore.source import DataSource, TimestampColumn
from headwater.sql.types.errors import TypeMismatchError
from headwater.sql.types.sql_type import BIGINT, STRING, TIMESTAMP

if TYPE_CHECKING:
    from headwater.sql.analysis.properties import Properties
    from headwater.sql.location import Location


def check_formats(source: DataSource, location: Location) -> None:
    """Refuse a source whose formats cannot hold its columns."""
    wrap = source.wrap_single_value
    if wrap is not None and wrap not in source.value_format.format.wraps:
        raise SqlError(
            f"the {source.value_format.name} format cannot have WRAP_SINGLE_VALUE = "
            f"{str(wrap).lower()}",
            location,
        )
    if wrap is not None and len(source.value) > 1:
        raise SqlError(
            "WRAP_SINGLE_VALUE is for values of a single column, and there are "
            f"{len(source.value)}",
            location,
        )
    try:
        check_key_types(source.key)
        if source.key_format.format == FORMATS["NONE"] and source.key:
            raise TypeMismatchError("the NONE format has no columns, and there is a key")
        source.key_format.format.check(source.key)
        source.value_format.format.check(source.value)
    except TypeMismatchError as error:
        raise SqlError(str(error), location) from None


def timestamp_column(properties: Properties, source: DataSource) -> TimestampColumn | None:
    """Return the column that says a row's time, or None if it is the record's own."""
    name = properties.text("TIMESTAMP")
    pattern = properties.text("TIMESTAMP_FORMAT")
    if name is None:
        return None
    location = properties.location("TIMESTAMP")
    unquoted = name[1:-1] if len(name) > 2 and name[0] == name[-1] == "`" else name.upper()
    column = source.column(unquoted)
    if column is None:
        raise SqlError(f"TIMESTAMP names no column of {source.name}: {name}", location)
    if column.type == STRING:
        if pattern is None:
            raise SqlError(
                f"{name} is a STRING, so that TIMESTAMP_FORMAT has to say how to read it", location
            )
    elif column.type not in (BIGINT, TIMESTAMP):
        raise SqlError(f"TIMESTAMP is a BIGINT, TIMESTAMP or STRING, not {column.type}", location)
    elif pattern is not None:
        raise SqlError(
            f"TIMESTAMP_FORMAT is for texts, and {name} is {column.type}",
            properties.location("TIMESTAMP_FORMAT"),
        )
    return TimestampColumn(column.name, pattern)
