"""The values of INSERT ... VALUES as their columns have them; what does not fit is refused."""

from __future__ import annotations

import decimal
from typing import TYPE_CHECKING, Any

from headwater.sql.analysis.inserts import unfit_value
from headwater.sql.server.rows.casting import caster, quantized, text_of
from headwater.sql.server.rows.computation import computation
from headwater.sql.types.sql_type import STRING, Array, Decimal, Map, SqlType, Struct

if TYPE_CHECKING:
    from headwater.sql.analysis.outcomes import InsertRow


def inserted_values(row: InsertRow) -> dict[str, Any]:
    """Return a row's values by column; raises SqlError for one that would not be kept as it is."""
    values = {}
    for column, typed in row.values:
        value = computation(typed)({})
        try:
            values[column.name] = _fitted(value, typed.type, column.type)
        except ValueError:
            raise unfit_value(row.target, column, typed, text_of(value, typed.type)) from None
    return values


def _fitted(value: Any, source: SqlType, target: SqlType) -> Any:
    """Return a value of a type that may be inserted; raises ValueError where it does not fit."""
    if value is None or source == target:
        return value
    match source, target:
        case _, Decimal():
            exact = decimal.Decimal(value)
            found = quantized(exact, target)
            if found != exact:
                raise ValueError(f"{exact} has too many digits")
            return found
        case Array(one), Array(other):
            return [_fitted(item, one, other) for item in value]
        case Map(key, one), Map(other_key, other):
            return {
                _fitted(name, key, other_key): _fitted(item, one, other)
                for name, item in value.items()
            }
        case Struct(fields), Struct(wanted):
            given = dict(fields)
            return {
                name: _fitted(value.get(name), given[name], type_) if name in given else None
                for name, type_ in wanted
            }
    found = caster(source, target)(value.strip() if source == STRING else value)
    if found is None:
        raise ValueError(f"{value} is no {target}")
    return found
