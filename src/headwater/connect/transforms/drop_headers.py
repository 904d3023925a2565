"""DropHeaders: records without some of their headers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from headwater.config import ConfigType
from headwater.connect.transforms.headers import without_headers
from headwater.connect.transforms.settings import NON_EMPTY_LIST, PACKAGE, required, settings
from headwater.connect.transforms.transform import Step

if TYPE_CHECKING:
    from headwater.config import Definitions, Values
    from headwater.connect.data.shape import Shape


@dataclass(frozen=True)
class DropHeaders:
    """Drops headers by name."""

    names: tuple[str, ...]

    class_names: ClassVar[tuple[str, ...]] = (f"{PACKAGE}.DropHeaders",)
    doc: ClassVar[str] = "Removes headers by their names."
    definitions: ClassVar[Definitions] = settings(
        required("headers", ConfigType.LIST, "The names of the headers to drop.", NON_EMPTY_LIST),
    )

    @classmethod
    def configured(cls, class_name: str, values: Values) -> Self:
        """Take the names."""
        del class_name
        return cls(values.words("headers"))

    def compile(self, shape: Shape) -> tuple[Step, Shape]:
        """Return the headers that are left."""
        return Step({"headers": without_headers(self.names)}), shape
