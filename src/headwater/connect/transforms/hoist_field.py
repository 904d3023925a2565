"""HoistField: the whole as the one field of a struct."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from headwater.config import ConfigType
from headwater.connect.data.schema import struct
from headwater.connect.data.sql_text import struct_of, text
from headwater.connect.transforms.settings import given_text, required, settings, side_of, sided
from headwater.connect.transforms.transform import Step
from headwater.connect.transforms.variants import to_variant, variant

if TYPE_CHECKING:
    from headwater.config import Definitions, Values
    from headwater.connect.data.shape import Shape


@dataclass(frozen=True)
class HoistField:
    """Puts a struct or an object with one field around the key or the value."""

    side: str
    field: str

    class_names: ClassVar[tuple[str, ...]] = sided("HoistField")
    doc: ClassVar[str] = "Wraps the key or the value in a struct with a single field."
    definitions: ClassVar[Definitions] = settings(
        required("field", ConfigType.STRING, "The name of the one field of the new struct."),
    )

    @classmethod
    def configured(cls, class_name: str, values: Values) -> Self:
        """Take the field's name."""
        return cls(side_of(class_name), given_text(values, "field"))

    def compile(self, shape: Shape) -> tuple[Step, Shape]:
        """Return the struct; nothing at all becomes a field that is null."""
        schema = shape.of(self.side)
        if schema is None:
            wrapped = to_variant(f"map({text(self.field)}, {variant(self.side)})")
            return Step({self.side: wrapped}), shape
        hoisted = struct({self.field: schema})
        wrapped = struct_of([(self.field, self.side)])
        return Step({self.side: wrapped}), shape.with_side(self.side, hoisted)
