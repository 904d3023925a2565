"""What a predicate is: a configuration that becomes a condition over the columns of records."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol, Self

if TYPE_CHECKING:
    from headwater.config import Definitions, Values


class Predicate(Protocol):
    """Tells which records a transform is for."""

    class_name: ClassVar[str]
    doc: ClassVar[str]
    definitions: ClassVar[Definitions]

    @classmethod
    def configured(cls, values: Values) -> Self:
        """Make one; raises ConfigError."""
        ...

    def condition(self) -> str:
        """Return what is true or false for every record, never null."""
        ...
