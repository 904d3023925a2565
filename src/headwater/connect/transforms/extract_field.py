"""ExtractField: one field in place of the whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from headwater.config import ConfigType
from headwater.connect.transforms.field_path import FieldPath
from headwater.connect.transforms.settings import (
    FIELD_SYNTAX,
    REPLACE_NULL,
    given_text,
    required,
    settings,
    side_of,
    sided,
)
from headwater.connect.transforms.structs import require_struct
from headwater.connect.transforms.transform import Step, TransformError
from headwater.connect.transforms.variants import no_map

if TYPE_CHECKING:
    from headwater.config import Definitions, Values
    from headwater.connect.data.shape import Shape

_PURPOSE = "field extraction"


@dataclass(frozen=True)
class ExtractField:
    """Puts a field's value in place of the struct or object that it is in."""

    side: str
    path: FieldPath
    replace_null: bool

    class_names: ClassVar[tuple[str, ...]] = sided("ExtractField")
    doc: ClassVar[str] = "Puts the value of one field in place of the whole key or value."
    definitions: ClassVar[Definitions] = settings(
        required("field", ConfigType.STRING, "The name of the field to extract."),
        FIELD_SYNTAX,
        REPLACE_NULL,
    )

    @classmethod
    def configured(cls, class_name: str, values: Values) -> Self:
        """Take the field's path."""
        path = FieldPath(given_text(values, "field"), given_text(values, FIELD_SYNTAX.name))
        return cls(side_of(class_name), path, values.boolean(REPLACE_NULL.name))

    def compile(self, shape: Shape) -> tuple[Step, Shape]:
        """Return the field alone."""
        schema = shape.of(self.side)
        if schema is None:
            columns = {self.side: self.path.in_variant(self.side)}
            return Step(columns, failed=no_map(self.side, _PURPOSE)), shape
        require_struct(schema, _PURPOSE)
        field = self.path.field(schema)
        if field is None:
            raise TransformError(f"Unknown field: {self.path.text}")
        value = self.path.in_struct(self.side, schema, replace_null=self.replace_null)
        return Step({self.side: value}), shape.with_side(self.side, field.schema)
