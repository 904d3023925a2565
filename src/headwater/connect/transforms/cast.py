"""Cast: fields, or the whole, as another type."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

from headwater.config import ConfigError, ConfigType, Validator
from headwater.connect.data.schema import Schema, Type
from headwater.connect.data.sql_text import text
from headwater.connect.transforms.casts import cast_default, cast_sql
from headwater.connect.transforms.settings import (
    REPLACE_NULL,
    required,
    settings,
    side_of,
    sided,
)
from headwater.connect.transforms.structs import Part, new_schema, new_struct_like, parts_of
from headwater.connect.transforms.transform import Step
from headwater.connect.transforms.variant_casts import cast_variant
from headwater.connect.transforms.variants import as_map, no_map, put, to_variant, variant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.config import Definitions, Values
    from headwater.connect.data.shape import Shape

_PURPOSE = "cast types"
_TARGETS = {
    "int8": Type.INT8,
    "int16": Type.INT16,
    "int32": Type.INT32,
    "int64": Type.INT64,
    "float32": Type.FLOAT32,
    "float64": Type.FLOAT64,
    "boolean": Type.BOOLEAN,
    "string": Type.STRING,
}
_OUT_OF_RANGE = "was out of range for requested data type"


@dataclass(frozen=True)
class Cast:
    """Casts fields by name, or with `whole` the key or value itself."""

    side: str
    fields: Mapping[str, Type]
    whole: Type | None
    replace_null: bool

    class_names: ClassVar[tuple[str, ...]] = sided("Cast")
    doc: ClassVar[str] = "Casts fields, or the whole key or value, to another type."
    definitions: ClassVar[Definitions] = settings(
        required(
            "spec",
            ConfigType.LIST,
            f"Fields and types, such as a:int32,b:string, or a single type for the whole key or "
            f"value. The types are {', '.join(_TARGETS)}. Bytes can be cast to string only.",
            Validator(
                "a list of colon-delimited pairs, such as foo:int32,abc:string, or one type",
                lambda value: bool(value) and all(each.count(":") <= 1 for each in value),
            ),
        ),
        REPLACE_NULL,
    )

    @classmethod
    def configured(cls, class_name: str, values: Values) -> Self:
        """Read the pairs, or the one type."""
        fields: dict[str, Type] = {}
        whole = None
        spec = values.words("spec")
        for each in spec:
            name, colon, target = each.rpartition(":")
            found = _TARGETS.get(target.strip().lower())
            if found is None:
                reason = f"there is no type {target.strip()}; there are {', '.join(_TARGETS)}"
                raise ConfigError("spec", each, reason)
            if colon:
                fields[name.strip()] = found
            else:
                whole = found
        if whole is not None and len(spec) > 1:
            reason = "a type for the whole key or value stands alone, without any others"
            raise ConfigError("spec", ",".join(spec), reason)
        return cls(side_of(class_name), fields, whole, values.boolean(REPLACE_NULL.name))

    def compile(self, shape: Shape) -> tuple[Step, Shape]:
        """Return the values as their new types; a tombstone stays one."""
        schema = shape.of(self.side)
        if schema is None:
            return self._schemaless(), shape
        if self.whole is not None:
            made = _cast_schema(schema, self.whole)
            made = replace(
                made,
                name=schema.name,
                version=schema.version,
                doc=schema.doc,
                parameters=schema.parameters,
            )
            value = cast_sql(self.side, schema, self.whole)
            failed = _failure(self.side, value, schema)
            return Step({self.side: value}, failed=failed), shape.with_side(self.side, made)
        return self._with_schema(schema, shape)

    def _with_schema(self, schema: Schema, shape: Shape) -> tuple[Step, Shape]:
        parts: list[Part] = []
        failures: list[str] = []
        for part in parts_of(self.side, schema, _PURPOSE, replace_null=self.replace_null):
            target = self.fields.get(part.name)
            if target is None:
                parts.append(part)
                continue
            value = cast_sql(part.sql, part.schema, target)
            parts.append(Part(part.name, value, _cast_schema(part.schema, target)))
            failure = _failure(part.sql, value, part.schema)
            if failure is not None:
                failures.append(failure)
        made = replace(new_schema(schema, parts), optional=schema.optional)
        failed = f"coalesce({', '.join(failures)}, null)" if failures else None
        step = Step({self.side: new_struct_like(self.side, parts)}, failed=failed)
        return step, shape.with_side(self.side, made)

    def _schemaless(self) -> Step:
        if self.whole is not None:
            found, failed = cast_variant(variant(self.side), self.whole)
            return Step({self.side: found}, failed=failed)
        fields = as_map(self.side)
        values: dict[str, str] = {}
        failures = [no_map(self.side, _PURPOSE)]
        for name, target in self.fields.items():
            values[name], failure = cast_variant(f"{fields}[{text(name)}]", target)
            failures.append(failure)
        columns = {self.side: to_variant(put(fields, values))}
        return Step(columns, failed=f"coalesce({', '.join(failures)})")


def _cast_schema(schema: Schema, target: Type) -> Schema:
    default = schema.default
    if default is not None:
        default = cast_default(default, schema, target)
    return Schema(target, schema.optional, default=default)


def _failure(value: str, result: str, schema: Schema) -> str | None:
    """Return what tells text that is no number; other values can all be cast."""
    if schema.type is not Type.STRING:
        return None
    return (
        f"if({value} is not null and ({result}) is null, "
        f"concat('Value (', {value}, {text(f') {_OUT_OF_RANGE}')}), null)"
    )
