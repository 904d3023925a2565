"""InsertHeader: a header that is the same for all records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from headwater.config import ConfigType
from headwater.connect.data.sql_text import text
from headwater.connect.transforms.headers import with_headers
from headwater.connect.transforms.settings import PACKAGE, given_text, required, settings
from headwater.connect.transforms.transform import Step

if TYPE_CHECKING:
    from headwater.config import Definitions, Values
    from headwater.connect.data.shape import Shape


@dataclass(frozen=True)
class InsertHeader:
    """Adds a header, also where there is one of that name."""

    header: str
    literal: str

    class_names: ClassVar[tuple[str, ...]] = (f"{PACKAGE}.InsertHeader",)
    doc: ClassVar[str] = "Adds a header with a fixed value to each record."
    definitions: ClassVar[Definitions] = settings(
        required("header", ConfigType.STRING, "The header's name."),
        required("value.literal", ConfigType.STRING, "The header's value."),
    )

    @classmethod
    def configured(cls, class_name: str, values: Values) -> Self:
        """Take the name and the value."""
        del class_name
        return cls(given_text(values, "header"), given_text(values, "value.literal"))

    def compile(self, shape: Shape) -> tuple[Step, Shape]:
        """Return the headers and the new one."""
        value = f"cast({text(self.literal)} as binary)"
        return Step({"headers": with_headers([(self.header, value)])}), shape
