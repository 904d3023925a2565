"""Values without a schema as another type: what each is shows only in its record."""

from __future__ import annotations

from headwater.connect.data.schema import Schema, Type
from headwater.connect.data.sql_text import text
from headwater.connect.transforms.casts import cast_sql


def cast_variant(value: str, target: Type) -> tuple[str, str]:
    """Return a variant of another type, and the failure of what cannot be cast to it."""
    kind = kind_of(value)
    cases = " ".join(
        f"when {kind} {test} then {_typed(value, schema, target)}" for test, schema in _KINDS
    )
    result = f"(case {cases} end)"
    message = "Cast transformation does not support this value, or it is out of range: "
    failed = (
        f"if({value} is null or {kind} = 'VOID' or {result} is not null, null, "
        f"concat({text(message)}, to_json({value})))"
    )
    return f"cast({result} as variant)", failed


def kind_of(value: str) -> str:
    """Return the type of a variant's value as Spark names it, such as BIGINT or ARRAY<...>."""
    return f"schema_of_variant({value})"


_KINDS = (
    ("= 'BIGINT'", Schema(Type.INT64)),
    ("in ('DOUBLE', 'FLOAT')", Schema(Type.FLOAT64)),
    ("like 'DECIMAL%'", Schema(Type.FLOAT64)),
    ("= 'BOOLEAN'", Schema(Type.BOOLEAN)),
    ("= 'STRING'", Schema(Type.STRING)),
)


def _typed(value: str, schema: Schema, target: Type) -> str:
    from headwater.connect.data.spark_types import ddl

    return cast_sql(f"try_variant_get({value}, '$', '{ddl(schema)}')", schema, target)
