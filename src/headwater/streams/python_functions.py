"""Functions made from the user's functions; classes, so that Spark's workers can unpickle them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater.plan.expressions.python_function import PythonFunction, instance_of

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Negated:
    """True where a predicate is not."""

    wrapped: Callable[..., Any]

    def __call__(self, *arguments: Any) -> bool:
        """Call the predicate and turn its answer round."""
        return not self.wrapped(*arguments)


@dataclass(frozen=True)
class Kept:
    """A table's value where a predicate holds; deleted where it does not."""

    predicate: PythonFunction

    def __call__(self, key: Any, value: Any) -> Any:
        """Return the value or None."""
        return value if value is not None and self.predicate(key, value) else None

    @property
    def wrapped(self) -> Callable[..., Any]:
        """The user's function."""
        return self.predicate.function


@dataclass(frozen=True)
class Joined:
    """A joiner of two values, called with both of them in one struct."""

    wrapped: Callable[..., Any]
    left_class: type | None = None
    right_class: type | None = None

    def __call__(self, value: Any) -> Any:
        """Call the joiner."""
        left = instance_of(self.left_class, value["left"])
        return self.wrapped(left, instance_of(self.right_class, value["right"]))
