"""Avro values between fastavro and Arrow: numbers as written, unions as structs.

Nearly all schemas need none of this: a shape is None where values are right as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from fastavro import parse_schema

from headwater.serde.arrow.avro_types import branches, is_decimal, named_types

Shape: TypeAlias = Callable[[Any], Any] | None

_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "boolean": (bool,),
    "int": (int,),
    "long": (int,),
    "float": (float, int),
    "double": (float, int),
    "bytes": (bytes,),
    "string": (str,),
    "array": (list,),
    "map": (dict,),
}


def without_meaning(parsed: Any) -> Any:
    """Return a schema whose dates and times are the numbers that Arrow makes them of."""
    return parse_schema(_stripped(parsed))


def has_wide_union(schema: Any) -> bool:
    """Say whether some union has several branches besides null."""
    if isinstance(schema, list):
        return len(branches(schema)) > 1 or any(map(has_wide_union, schema))
    if not isinstance(schema, dict):
        return False
    inner = [field["type"] for field in schema.get("fields", ())]
    inner += [schema[name] for name in ("items", "values", "type") if name in schema]
    return any(map(has_wide_union, inner))


def reading_shape(schema: Any) -> Shape:
    """Return what makes Arrow's values of fastavro's, where named branches come as pairs."""
    return _Shapes(named_types(schema), _read_union).of(schema)


def writing_shape(schema: Any) -> Shape:
    """Return what makes fastavro's values of Arrow's."""
    return _Shapes(named_types(schema), _write_union).of(schema)


class _Shapes:
    def __init__(
        self,
        known: dict[str, Any],
        union: Callable[[list[Any], list[Shape], dict[str, Any]], Shape],
    ) -> None:
        self._known = known
        self._union = union

    def of(self, schema: Any) -> Shape:
        if isinstance(schema, list):
            rest = branches(schema)
            return self._union(rest, [self.of(branch) for branch in rest], self._known)
        if isinstance(schema, str):
            return self.of(self._known[schema]) if schema in self._known else None
        kind = schema["type"]
        if kind in ("record", "error"):
            return _record(
                {
                    field["name"]: shape
                    for field in schema["fields"]
                    if (shape := self.of(field["type"])) is not None
                }
            )
        if kind == "array":
            item = self.of(schema["items"])
            return None if item is None else lambda values: [_applied(item, v) for v in values]
        if kind == "map":
            return _map(self.of(schema["values"]))
        return None if isinstance(kind, str) else self.of(kind)


def _record(shapes: dict[str, Callable[[Any], Any]]) -> Shape:
    if not shapes:
        return None

    def shape(record: dict[str, Any]) -> dict[str, Any]:
        return {
            name: _applied(shapes[name], value) if name in shapes else value
            for name, value in record.items()
        }

    return shape


def _map(item: Shape) -> Shape:
    # Arrow gives maps back as pairs; dict() takes those as well as fastavro's dicts.
    if item is None:
        return dict
    return lambda entries: {key: _applied(item, value) for key, value in dict(entries).items()}


def _applied(shape: Callable[[Any], Any], value: Any) -> Any:
    return None if value is None else shape(value)


def _read_union(rest: list[Any], shapes: list[Shape], known: dict[str, Any]) -> Shape:
    if len(rest) == 1 and shapes[0] is None and _name(rest[0]) not in known:
        return None

    def shape(value: Any) -> Any:
        for index, branch in enumerate(rest):
            if _is_of(value, branch, known):
                inner = value[1] if isinstance(value, tuple) else value
                inner = inner if (convert := shapes[index]) is None else convert(inner)
                return inner if len(rest) == 1 else {f"member{index}": inner}
        raise TypeError(f"no branch of the union takes {value!r}")

    return shape


def _write_union(rest: list[Any], shapes: list[Shape], known: dict[str, Any]) -> Shape:
    if len(rest) == 1:
        return shapes[0]

    def shape(members: dict[str, Any]) -> Any:
        for index, branch in enumerate(rest):
            value = members[f"member{index}"]
            if value is not None:
                convert = shapes[index]
                return _name(branch), value if convert is None else convert(value)
        return None

    return shape


def _is_of(value: Any, branch: Any, known: dict[str, Any]) -> bool:
    name = _name(branch)
    if isinstance(value, tuple):
        return bool(value[0] == name)
    if name in known:
        return False
    if is_decimal(branch):
        return not isinstance(value, bool | int | float | str | bytes | list | dict)
    if isinstance(value, bool) and name != "boolean":
        return False
    return isinstance(value, _PYTHON_TYPES.get(name, ()))


def _name(branch: Any) -> str:
    return branch if isinstance(branch, str) else str(branch.get("name", branch["type"]))


def _stripped(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_stripped(branch) for branch in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        name: value
        for name, value in schema.items()
        if not name.startswith("__") and (name != "logicalType" or is_decimal(schema))
    }
    if "fields" in kept:
        kept["fields"] = [{**field, "type": _stripped(field["type"])} for field in kept["fields"]]
    for inner in ("items", "values", "type"):
        if inner in kept:
            kept[inner] = _stripped(kept[inner])
    return kept
