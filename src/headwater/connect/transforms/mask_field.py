"""MaskField: fields without what was in them."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, ClassVar, Self

from headwater.config import NOT_EMPTY, ConfigDef, ConfigType, Importance
from headwater.connect.data import schema as connect
from headwater.connect.data.schema import Schema, Type
from headwater.connect.data.spark_types import ddl
from headwater.connect.data.sql_text import literal, text, unless_null
from headwater.connect.transforms.casts import cast_default
from headwater.connect.transforms.settings import (
    NON_EMPTY_LIST,
    REPLACE_NULL,
    required,
    settings,
    side_of,
    sided,
)
from headwater.connect.transforms.structs import Part, new_struct_like, null_struct, parts_of
from headwater.connect.transforms.transform import Step, TransformError
from headwater.connect.transforms.variant_casts import kind_of
from headwater.connect.transforms.variants import as_map, no_map, put, to_variant

if TYPE_CHECKING:
    from headwater.config import Definitions, Values
    from headwater.connect.data.shape import Shape

_PURPOSE = "mask fields"


@dataclass(frozen=True)
class MaskField:
    """Puts an empty value, or a given one, in place of fields' values."""

    side: str
    fields: tuple[str, ...]
    replacement: str | None
    replace_null: bool

    class_names: ClassVar[tuple[str, ...]] = sided("MaskField")
    doc: ClassVar[str] = "Masks fields with an empty value of their type, or a given one."
    definitions: ClassVar[Definitions] = settings(
        required("fields", ConfigType.LIST, "The fields to mask.", NON_EMPTY_LIST),
        ConfigDef(
            "replacement",
            ConfigType.STRING,
            None,
            "What to put into the fields, numbers or text, in place of an empty value.",
            NOT_EMPTY,
            importance=Importance.LOW,
        ),
        REPLACE_NULL,
    )

    @classmethod
    def configured(cls, class_name: str, values: Values) -> Self:
        """Take the names and what to put in their place."""
        return cls(
            side_of(class_name),
            values.words("fields"),
            values.text("replacement"),
            values.boolean(REPLACE_NULL.name),
        )

    def compile(self, shape: Shape) -> tuple[Step, Shape]:
        """Return the struct or object with masked fields; null stays null."""
        schema = shape.of(self.side)
        if schema is None:
            return self._schemaless(), shape
        parts: list[Part] = []
        failures = [null_struct(self.side, _PURPOSE)]
        for part in parts_of(self.side, schema, _PURPOSE, replace_null=self.replace_null):
            if part.name not in self.fields:
                parts.append(part)
                continue
            try:
                mask = self._mask(part.schema)
            except TransformError as refusal:  # only of records that have a value to mask
                mask = f"cast(null as {ddl(part.schema)})"
                failures.append(unless_null(part.sql, text(str(refusal))))
            parts.append(part._replace(sql=unless_null(part.sql, mask)))
        failed = f"coalesce({', '.join(failures)}, null)"
        return Step({self.side: new_struct_like(self.side, parts)}, failed=failed), shape

    def _mask(self, schema: Schema) -> str:
        if self.replacement is not None:
            return self._replaced(schema, self.replacement)
        if schema.logical is not None:
            return _EMPTY_LOGICAL[schema.logical].format(type=ddl(schema))
        match schema.type:
            case Type.ARRAY | Type.MAP:
                empty = "array()" if schema.type is Type.ARRAY else "map()"
                return f"cast({empty} as {ddl(schema)})"
            case Type.STRING:
                return "''"
            case Type.BOOLEAN:
                return "false"
            case Type.STRUCT | Type.BYTES:
                raise TransformError(f"Cannot mask value of type: {schema.type.value}")
        return f"cast(0 as {ddl(schema)})"

    def _replaced(self, schema: Schema, replacement: str) -> str:
        if schema.type is Type.STRING:
            return text(replacement)
        is_decimal = schema.logical == connect.DECIMAL
        if not (is_decimal or (schema.type.is_number and schema.logical is None)):
            kind = schema.logical or schema.type.value
            raise TransformError(f"Cannot mask value of type {kind} with custom replacement.")
        try:
            number = Decimal(replacement)
        except InvalidOperation:
            raise TransformError(f"Unable to convert {replacement} to number") from None
        value = number if is_decimal else cast_default(number, schema, schema.type)
        return literal(value, schema)

    def _schemaless(self) -> Step:
        fields = as_map(self.side)
        values: dict[str, str] = {}
        failures = [no_map(self.side, _PURPOSE, null_is_well=False)]
        for name in self.fields:
            value = f"{fields}[{text(name)}]"
            values[name] = f"case {self._cases(value)} end"
            if self.replacement is not None:
                message = text("Cannot mask with custom replacement the value of field ")
                failures.append(
                    f"if({value} is null or is_variant_null({value}) or {values[name]} is not null,"
                    f" null, concat({message}, {text(name)}))"
                )
        columns = {self.side: to_variant(put(fields, values))}
        return Step(columns, failed=f"coalesce({', '.join(failures)})")

    def _cases(self, value: str) -> str:
        kind = kind_of(value)
        masks = {
            "= 'BIGINT'": Schema(Type.INT64),
            "in ('DOUBLE', 'FLOAT')": Schema(Type.FLOAT64),
            "like 'DECIMAL%'": Schema(Type.FLOAT64),
            "= 'STRING'": Schema(Type.STRING),
        }
        if self.replacement is None:
            masks["= 'BOOLEAN'"] = Schema(Type.BOOLEAN)
        cases = []
        for test, schema in masks.items():
            try:
                cases.append(f"when {kind} {test} then cast({self._mask(schema)} as variant)")
            except TransformError:  # text in place of a number: the record's failure, if one has it
                continue
        if self.replacement is None:
            cases.append(f"when {kind} like 'ARRAY%' then parse_json('[]')")
            cases.append(f"when {kind} like 'OBJECT%' then parse_json('{{}}')")
        return " ".join(cases)


_EMPTY_LOGICAL = {
    connect.DECIMAL: "cast(0 as {type})",
    connect.DATE: "date'1970-01-01'",
    connect.TIME: "0",
    connect.TIMESTAMP: "timestamp_millis(0L)",
}
