"""What a transform is: a configuration that becomes expressions over the columns of records."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.config import Definitions, Values
    from headwater.connect.data.shape import Shape


class TransformError(ValueError):
    """Records of this shape cannot be transformed so, whatever is in them."""


class FunctionCall(NamedTuple):
    """A Python function that a step's SQL calls by `name`; `path` is `module:function`."""

    name: str
    path: str
    returns: str
    is_json: bool
    """Whether it gets and gives JSON as text, which stands for values without a schema."""


@dataclass(frozen=True)
class Step:
    """What happens to records, as Spark SQL over their columns as they are before it.

    `columns` has new columns by name, others stay; all see the record as it was before the step.
    `where` tells which records are kept. `failed` is text that says why a record cannot be
    transformed, null where it can; it is looked at first: the columns of a failed record are null.
    `functions` must be registered in the Spark session first.
    """

    columns: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    where: str | None = None
    failed: str | None = None
    functions: tuple[FunctionCall, ...] = ()


class Transform(Protocol):
    """A transform of records, made by `configured`."""

    class_names: ClassVar[tuple[str, ...]]
    """The original's names."""
    doc: ClassVar[str]
    definitions: ClassVar[Definitions]

    @classmethod
    def configured(cls, class_name: str, values: Values) -> Self:
        """Make one; raises ConfigError for values that do not go together."""
        ...

    def compile(self, shape: Shape) -> tuple[Step, Shape]:
        """Return what to do, and the shape afterwards; raises TransformError."""
        ...
