"""What columns are in Connect: their schemas, as Confluent's connector gives them, and readers."""

from __future__ import annotations

import logging
from enum import StrEnum
from typing import TYPE_CHECKING

from headwater.connect.data import schema as connect
from headwater.connect.data.schema import Field, Schema, Type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.connect.connectors.jdbc.dialects.dialect import Dialect
    from headwater.connect.connectors.jdbc.table import Column

_LOGGER = logging.getLogger(__name__)


class NumericMapping(StrEnum):
    """What becomes of NUMERIC and DECIMAL columns."""

    NONE = "none"
    PRECISION_ONLY = "precision_only"
    BEST_FIT = "best_fit"
    BEST_FIT_EAGER_DOUBLE = "best_fit_eager_double"


class Columns:
    """The columns of a table or query that can be read, and the schema of its rows."""

    def __init__(
        self,
        name: str | None,
        columns: Sequence[Column],
        dialect: Dialect,
        *,
        mapping: NumericMapping,
        zone: str,
    ) -> None:
        schemas = [(each, _schema(each, dialect, mapping)) for each in columns]
        for column, schema in schemas:
            if schema is None:
                _LOGGER.warning(
                    "%s.%s is left out: there is no type in Connect for %s",
                    name or "the query",
                    column.name,
                    column.type_name,
                )
        known = [(column, schema) for column, schema in schemas if schema is not None]
        self.schema = Schema(
            Type.STRUCT,
            name=name,
            fields=tuple(Field(column.name, schema) for column, schema in known),
        )
        self.names = tuple(column.name for column, _ in known)
        self.kinds = tuple(
            _kind(schema, "UTC" if dialect.is_instant(column) else zone, dialect)
            for column, schema in known
        )


def _schema(column: Column, dialect: Dialect, mapping: NumericMapping) -> Schema | None:
    special = dialect.schema_of(column)
    if special is not None:
        return special
    optional = column.is_nullable
    match column.jdbc_type:
        case _Jdbc.NUMERIC | _Jdbc.DECIMAL:
            return _number(column, mapping)
        case _Jdbc.DATE:
            return connect.date(optional=optional)
        case _Jdbc.TIME | _Jdbc.TIME_WITH_TIMEZONE:
            return connect.time(optional=optional)
        case _Jdbc.TIMESTAMP | _Jdbc.TIMESTAMP_WITH_TIMEZONE:
            return connect.timestamp(optional=optional)
    types = _SIGNED if column.is_signed else _SIGNED | _UNSIGNED
    found = types.get(column.jdbc_type)
    return None if found is None else Schema(found, optional)


def _number(column: Column, mapping: NumericMapping) -> Schema:
    optional, precision, scale = column.is_nullable, column.precision, column.scale
    fits = 0 < precision <= _LONG_DIGITS
    if mapping is not NumericMapping.NONE and fits and scale == 0:
        return Schema(_integer(precision), optional)
    if mapping is NumericMapping.BEST_FIT and fits and scale > 0:
        return Schema(Type.FLOAT64, optional)
    if mapping is NumericMapping.BEST_FIT_EAGER_DOUBLE and scale > 0:
        return Schema(Type.FLOAT64, optional)
    return connect.decimal(scale, precision or None, optional=optional)


def _integer(digits: int) -> Type:
    for most, type_ in ((2, Type.INT8), (4, Type.INT16), (9, Type.INT32)):
        if digits <= most:
            return type_
    return Type.INT64


def _kind(schema: Schema, zone: str, dialect: Dialect) -> str:
    """Return how the JVM fetches a column; see ColumnReader in jvm/."""
    match schema.logical:
        case connect.DECIMAL:
            return f"decimal@{schema.scale}"
        case connect.DATE:
            return "date"
        case connect.TIME:
            return "time"
        case connect.TIMESTAMP:
            return f"{'timestamp' if dialect.has_times else 'timestamp-text'}@{zone}"
    return schema.type.value


class _Jdbc:
    """Some of java.sql.Types."""

    NUMERIC = 2
    DECIMAL = 3
    DATE = 91
    TIME = 92
    TIMESTAMP = 93
    TIME_WITH_TIMEZONE = 2013
    TIMESTAMP_WITH_TIMEZONE = 2014


_LONG_DIGITS = 18
# By java.sql.Types: BIT, TINYINT and so on; texts; bytes.
_SIGNED = {
    **dict.fromkeys((-7, -6), Type.INT8),
    **dict.fromkeys((6, 8), Type.FLOAT64),
    16: Type.BOOLEAN,
    5: Type.INT16,
    4: Type.INT32,
    -5: Type.INT64,
    7: Type.FLOAT32,
    **dict.fromkeys((1, 12, -1, -15, -9, -16, 2005, 2011, 70, 2009), Type.STRING),
    **dict.fromkeys((-2, -3, -4, 2004), Type.BYTES),
}
_UNSIGNED = {-6: Type.INT16, 5: Type.INT32, 4: Type.INT64}
