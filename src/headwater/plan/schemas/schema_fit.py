"""Whether a declared type can be read from what a registered schema describes."""

from __future__ import annotations

from headwater.plan.schemas.types import (
    BIGINT,
    BINARY,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    INTEGERS,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    VOID,
    Array,
    DataType,
    Map,
    Struct,
    as_nullable,
    is_numeric,
)

# What a number becomes without losing anything that its schema allows; as in Avro.
_WIDER: dict[DataType, tuple[DataType, ...]] = {
    INT: (BIGINT, FLOAT, DOUBLE),
    BIGINT: (FLOAT, DOUBLE),
    FLOAT: (DOUBLE,),
}
_IN_JSON_TEXTS = (DATE, TIMESTAMP, TIMESTAMP_NTZ, BINARY)


def contradiction(declared: DataType, registered: DataType, kind: str) -> str | None:
    """Return in words what of a declared type the schema does not have; None where all fits.

    A declared struct may leave fields out. Where a JSON Schema leaves something open, which is
    `void` here, it may be anything, and fields that it does not name may be there.
    """
    return _contradiction(declared, registered, "", is_json=kind == "jsonschema")


def _contradiction(
    declared: DataType, registered: DataType, path: str, *, is_json: bool
) -> str | None:
    match declared, registered:
        case Struct(), Struct():
            return _of_structs(declared, registered, path, is_json=is_json)
        case Array(one), Array(other):
            return _contradiction(one, other, f"{path}[]", is_json=is_json)
        case Map(_, one), Map(_, other):
            return _contradiction(one, other, f"{path}{{}}", is_json=is_json)
    same = as_nullable(declared) == as_nullable(registered)
    fits = _fits_json(declared, registered) if is_json else _is_wider(declared, registered)
    if same or fits:
        return None
    return f"{path or 'it'} is {registered.ddl()} there, and not {declared.ddl()}"


def _of_structs(declared: Struct, registered: Struct, path: str, *, is_json: bool) -> str | None:
    for field in declared.fields:
        inner = f"{path}.{field.name}" if path else field.name
        found = registered.field(field.name)
        if found is None:
            if not is_json:
                return f"{inner} is not there (there are {', '.join(registered.names)})"
            continue
        reason = _contradiction(field.type, found.type, inner, is_json=is_json)
        if reason is not None:
            return reason
    return None


def _is_wider(declared: DataType, registered: DataType) -> bool:
    return declared in _WIDER.get(registered, ())


def _fits_json(declared: DataType, registered: DataType) -> bool:
    """Tell whether Spark's reader of JSON makes the one of what the other describes."""
    if registered == VOID or declared == STRING:
        return True
    if registered == STRING:
        return declared in _IN_JSON_TEXTS
    if registered == BIGINT:
        return is_numeric(declared) or declared == TIMESTAMP
    if registered == DOUBLE:
        return is_numeric(declared) and declared not in INTEGERS
    objects = Map | Struct
    return isinstance(declared, objects) and isinstance(registered, objects)
