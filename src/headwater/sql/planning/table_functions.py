"""EXPLODE and CUBE_EXPLODE: as many rows of one as the longest of the arrays has elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.plan.expressions.expressions import Column
from headwater.plan.expressions.formulas import Formula
from headwater.plan.nodes import FlatMap
from headwater.plan.rows import RowType
from headwater.plan.schemas.types import Array, Field, Struct
from headwater.sql.analysis.typed import CallMeaning, Typed
from headwater.sql.functions.function import FunctionKind
from headwater.sql.planning.formulas import literal
from headwater.sql.planning.rows import VALUE, Rows
from headwater.sql.planning.wire_types import kept, kept_type, typed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater.plan.expressions.expressions import Expression
    from headwater.sql.planning.numbering import Numbering
    from headwater.sql.tree.expressions import Expression as SqlExpression

# Each element is there or null, in the order of a number's binary digits, no two arrays alike.
_CUBE = (
    "array_distinct(transform(sequence(0, CAST(pow(2, size({0})) AS int) - 1), _c -> "
    "transform({0}, (_x, _p) -> if((_c & shiftleft(1, size({0}) - 1 - _p)) <> 0, _x, NULL))))"
)


def table_calls(values: Iterable[Typed]) -> list[Typed]:
    """Return the calls of functions that make several rows of one, each once."""
    found: dict[SqlExpression, Typed] = {}
    for value in values:
        for part in value.walk():
            meaning = part.meaning
            if isinstance(meaning, CallMeaning) and meaning.function.kind is FunctionKind.TABLE:
                found.setdefault(part.expression, part)
    return list(found.values())


def exploded(rows: Rows, calls: list[Typed], numbering: Numbering) -> Rows:
    """Return a row for each element, of rows whose columns are all fields of the value.

    Of arrays that are shorter than others the elements are null.
    """
    value = rows.node.row.value
    assert isinstance(value, Struct), "all columns are in the value"
    arrays = [_elements(rows, call) for call in calls]
    names = [f"element_{index}" for index in range(len(calls))]
    fields = (
        *value.fields,
        *(Field(name, kept_type(call.type)) for name, call in zip(names, calls, strict=True)),
    )
    struct = Struct(fields)
    node = numbering.add(
        FlatMap, "KSTREAM-FLATMAPVALUES", (rows.node,), RowType(rows.node.row.key, struct),
        items=_items(value, arrays, names, struct), keyed=False,
    )  # fmt: skip
    known = {
        call.expression: typed(Column(("record", "value", name)), call.type)
        for call, name in zip(calls, names, strict=True)
    }
    return Rows(node, rows.columns, {**rows.known, **known}, rows.window)


def _items(value: Struct, arrays: list[Expression], names: list[str], struct: Struct) -> Expression:
    kept = [Column(("record", "value", name)) for name in value.names]
    parts = [f"{literal(name)}, {{{index}}}" for index, name in enumerate(value.names)]
    first = len(kept)
    parts += [
        f"{literal(name)}, try_element_at({{{first + index}}}, _i)"
        for index, name in enumerate(names)
    ]
    sizes = ", ".join(f"coalesce(size({{{first + index}}}), 0)" for index in range(len(arrays)))
    longest = f"greatest({sizes}, 0)"
    made = f"transform(sequence(1, {longest}), _i -> named_struct({', '.join(parts)}))"
    # A record without a value has no elements.
    record = f"{{{first + len(arrays)}}}"
    text = f"CASE WHEN {record} IS NOT NULL AND {longest} > 0 THEN {made} END"
    return Formula(text, (*kept, *arrays, VALUE), Array(struct))


def _elements(rows: Rows, call: Typed) -> Expression:
    meaning = call.meaning
    assert isinstance(meaning, CallMeaning)
    (array,) = call.parts
    translated = kept(rows.translator.translate(array), array.type)
    if meaning.function.name == "EXPLODE":
        return translated
    return Formula(_CUBE, (translated,), Array(kept_type(call.type)))
