"""Flatten: fields of structs inside as fields on top."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

from headwater.config import ConfigDef, ConfigType
from headwater.connect.data.schema import Schema, Type
from headwater.connect.data.sql_text import field_of, literal, text
from headwater.connect.transforms.settings import given_text, settings, side_of, sided
from headwater.connect.transforms.structs import (
    Part,
    new_schema,
    new_struct_like,
    require_struct,
)
from headwater.connect.transforms.transform import Step, TransformError
from headwater.connect.transforms.variants import as_map, no_map, to_variant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.config import Definitions, Values
    from headwater.connect.data.shape import Shape

_PURPOSE = "flattening"
_LEVELS = 12
"""How deep objects without a schema may be: each level is a part of the expression."""


@dataclass(frozen=True)
class Flatten:
    """Makes one struct or object of those in it, with the names of each level joined."""

    side: str
    delimiter: str

    class_names: ClassVar[tuple[str, ...]] = sided("Flatten")
    doc: ClassVar[str] = "Flattens structs inside of others; arrays stay as they are."
    definitions: ClassVar[Definitions] = settings(
        ConfigDef("delimiter", ConfigType.STRING, ".", "What stands between the joined names."),
    )

    @classmethod
    def configured(cls, class_name: str, values: Values) -> Self:
        """Take the delimiter."""
        return cls(side_of(class_name), given_text(values, "delimiter"))

    def compile(self, shape: Shape) -> tuple[Step, Shape]:
        """Return the flat struct or object; a tombstone stays one."""
        schema = shape.of(self.side)
        if schema is None:
            return self._schemaless(), shape
        require_struct(schema, _PURPOSE)
        parts = list(self._leaves(self.side, schema, "", schema.default, optional=schema.optional))
        made = shape.with_side(self.side, new_schema(schema, parts))
        return Step({self.side: new_struct_like(self.side, parts)}), made

    def _leaves(
        self, struct: str, schema: Schema, prefix: str, default: object, *, optional: bool
    ) -> Iterator[Part]:
        for field in schema.fields:
            name = f"{prefix}{self.delimiter}{field.name}" if prefix else field.name
            value = field_of(struct, field.name)
            own = field.schema.default
            if own is None and isinstance(default, dict):
                own = default.get(field.name)
            is_optional = optional or field.schema.optional
            if field.schema.type is Type.STRUCT:
                yield from self._leaves(value, field.schema, name, own, optional=is_optional)
                continue
            if field.schema.type is Type.MAP:
                raise TransformError(
                    "Flatten transformation does not support MAP for record with schemas "
                    f"(for field {name})."
                )
            if own is not None:
                value = f"coalesce({value}, {literal(own, field.schema)})"
            yield Part(name, value, replace(field.schema, optional=is_optional, default=own))

    def _schemaless(self) -> Step:
        entries = f"map_entries({as_map(self.side)})"
        joined = f"concat(e.key, {text(self.delimiter)}, i.key)"
        for _ in range(_LEVELS):
            inside = as_map("e.value")
            entries = (
                f"flatten(transform({entries}, e -> if({inside} is null, array(e), transform("
                f"map_entries({inside}), i -> struct({joined} as key, i.value as value)))))"
            )
        deep = text(f"Flatten takes objects without a schema of up to {_LEVELS} levels")
        too_deep = f"if(exists({entries}, e -> {as_map('e.value')} is not null), {deep}, null)"
        failed = f"coalesce({no_map(self.side, _PURPOSE)}, {too_deep})"
        return Step({self.side: to_variant(f"map_from_entries({entries})")}, failed=failed)
