"""Filter: records left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from headwater.connect.transforms.settings import PACKAGE, settings
from headwater.connect.transforms.transform import Step

if TYPE_CHECKING:
    from headwater.config import Definitions, Values
    from headwater.connect.data.shape import Shape


@dataclass(frozen=True)
class Filter:
    """Drops records: all, or those that its predicate is for."""

    class_names: ClassVar[tuple[str, ...]] = (f"{PACKAGE}.Filter",)
    doc: ClassVar[str] = "Drops the records that its predicate is true for; all without one."
    definitions: ClassVar[Definitions] = settings()

    @classmethod
    def configured(cls, class_name: str, values: Values) -> Self:
        """Make one: there is nothing to set."""
        del class_name, values
        return cls()

    def compile(self, shape: Shape) -> tuple[Step, Shape]:
        """Return what keeps none."""
        return Step(where="false"), shape
