"""ValueToKey: a key of some of the value's fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from headwater.config import ConfigType
from headwater.connect.data.schema import Schema, Type
from headwater.connect.data.sql_text import text
from headwater.connect.transforms.settings import (
    NON_EMPTY_LIST,
    PACKAGE,
    REPLACE_NULL,
    required,
    settings,
)
from headwater.connect.transforms.structs import (
    Part,
    new_schema,
    new_struct_like,
    null_struct,
    require_struct,
    value_of,
)
from headwater.connect.transforms.transform import Step, TransformError
from headwater.connect.transforms.variants import as_map, no_map, to_variant

if TYPE_CHECKING:
    from headwater.config import Definitions, Values
    from headwater.connect.data.shape import Shape

_PURPOSE = "copying fields from value to key"


@dataclass(frozen=True)
class ValueToKey:
    """Makes the key a struct or an object of fields of the value."""

    fields: tuple[str, ...]
    replace_null: bool

    class_names: ClassVar[tuple[str, ...]] = (f"{PACKAGE}.ValueToKey",)
    doc: ClassVar[str] = "Replaces the key with one formed from fields of the value."
    definitions: ClassVar[Definitions] = settings(
        required("fields", ConfigType.LIST, "The value's fields that form it.", NON_EMPTY_LIST),
        REPLACE_NULL,
    )

    @classmethod
    def configured(cls, class_name: str, values: Values) -> Self:
        """Take the names."""
        del class_name
        return cls(values.words("fields"), values.boolean(REPLACE_NULL.name))

    def compile(self, shape: Shape) -> tuple[Step, Shape]:
        """Return the key; a tombstone has nothing to make one of, and fails."""
        if shape.value is None:
            value = as_map("value")
            pairs = ", ".join(f"{text(name)}, {value}[{text(name)}]" for name in self.fields)
            failed = no_map("value", _PURPOSE, null_is_well=False)
            key = f"if({value} is null, null, {to_variant(f'map({pairs})')})"
            return Step({"key": key}, failed=failed), shape.with_side("key", None)
        require_struct(shape.value, _PURPOSE)
        parts = [self._part(name, shape.value) for name in self.fields]
        made = shape.with_side("key", new_schema(Schema(Type.STRUCT), parts))
        step = Step({"key": new_struct_like("value", parts)}, failed=null_struct("value", _PURPOSE))
        return step, made

    def _part(self, name: str, schema: Schema) -> Part:
        field = schema.field(name)
        if field is None:
            raise TransformError(f"Field does not exist: {name}")
        return Part(name, value_of("value", field, replace_null=self.replace_null), field.schema)
