"""HeaderFrom: fields as headers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from headwater.config import ConfigError, ConfigType, one_of
from headwater.connect.transforms.headers import header_bytes, with_headers
from headwater.connect.transforms.settings import (
    NON_EMPTY_LIST,
    REPLACE_NULL,
    given_text,
    required,
    settings,
    side_of,
    sided,
)
from headwater.connect.transforms.structs import (
    new_schema,
    new_struct_like,
    null_struct,
    parts_of,
)
from headwater.connect.transforms.transform import Step, TransformError
from headwater.connect.transforms.variants import as_map, entry, no_map, to_variant, without

if TYPE_CHECKING:
    from headwater.config import Definitions, Values
    from headwater.connect.data.schema import Schema
    from headwater.connect.data.shape import Shape


@dataclass(frozen=True)
class HeaderFrom:
    """Copies or moves fields of a struct or an object into headers."""

    side: str
    fields: tuple[str, ...]
    headers: tuple[str, ...]
    operation: str
    replace_null: bool

    class_names: ClassVar[tuple[str, ...]] = sided("HeaderFrom")
    doc: ClassVar[str] = "Copies or moves fields of the key or value into headers."
    definitions: ClassVar[Definitions] = settings(
        required("fields", ConfigType.LIST, "The fields.", NON_EMPTY_LIST),
        required("headers", ConfigType.LIST, "The headers, one for each field.", NON_EMPTY_LIST),
        required(
            "operation",
            ConfigType.STRING,
            "move takes the fields out of the key or value, copy leaves them in.",
            one_of("move", "copy"),
        ),
        REPLACE_NULL,
    )

    @classmethod
    def configured(cls, class_name: str, values: Values) -> Self:
        """Take as many headers as fields."""
        fields, headers = values.words("fields"), values.words("headers")
        if len(fields) != len(headers):
            raise ConfigError(
                "headers",
                ",".join(headers),
                "'fields' config must have the same number of elements as 'headers' config: there "
                f"are {len(fields)} fields and {len(headers)} headers",
            )
        operation = given_text(values, "operation")
        replace_null = values.boolean(REPLACE_NULL.name)
        return cls(side_of(class_name), fields, headers, operation, replace_null)

    def compile(self, shape: Shape) -> tuple[Step, Shape]:
        """Return the headers, and what is left of the struct or object; a tombstone fails."""
        schema = shape.of(self.side)
        if schema is not None:
            return self._with_schema(schema, shape)
        fields = as_map(self.side)
        values = [header_bytes(entry(fields, name), None, shape.headers) for name in self.fields]
        columns = {"headers": with_headers(zip(self.headers, values, strict=True))}
        if self.operation == "move":
            columns[self.side] = to_variant(without(fields, self.fields))
        return Step(columns, failed=no_map(self.side, self._purpose, null_is_well=False)), shape

    @property
    def _purpose(self) -> str:
        return f"header {self.operation}"

    def _with_schema(self, schema: Schema, shape: Shape) -> tuple[Step, Shape]:
        parts = parts_of(self.side, schema, self._purpose, replace_null=self.replace_null)
        found = {part.name: part for part in parts}
        missing = [name for name in self.fields if name not in found]
        if missing:
            raise TransformError(f"Field does not exist: {missing[0]}")
        values = [
            header_bytes(found[name].sql, found[name].schema, shape.headers) for name in self.fields
        ]
        columns = {"headers": with_headers(zip(self.headers, values, strict=True))}
        failed = null_struct(self.side, self._purpose)
        if self.operation == "copy":
            return Step(columns, failed=failed), shape
        left = [part for part in parts if part.name not in self.fields]
        if not left:
            raise TransformError(f"no field is left in the {self.side} when all are moved")
        columns[self.side] = new_struct_like(self.side, left)
        return Step(columns, failed=failed), shape.with_side(self.side, new_schema(schema, left))
