"""A user's Python function as an operand: what it is called with and what it returns."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from headwater.plan.errors import PlanError

if TYPE_CHECKING:
    from headwater.plan.schemas.types import DataType


Shape = Literal["value", "pair", "values", "pairs"]
"""What comes back: a value, a (key, value) pair, or any number of them."""


@dataclass(frozen=True)
class PythonFunction:
    """A function of a record's value, or of its key and its value.

    Structs arrive as dicts, or as instances of the dataclass that declared the type. A dataclass
    that comes back, alone or in lists, becomes a dict, and a pair becomes a dict of `key` and
    `value`, so that every result has the shape of `returns`.
    """

    function: Callable[..., Any]
    returns: DataType
    takes_key: bool
    shape: Shape = "value"
    key_class: type | None = None
    value_class: type | None = None
    skips_null: bool = False

    @property
    def name(self) -> str:
        """The function's own name."""
        return name_of(self.function)

    def __call__(self, key: Any, value: Any) -> Any:
        """Call the user's function for one record and return plain values."""
        if self.skips_null and value is None:
            return None
        value = instance_of(self.value_class, value)
        if self.takes_key:
            result = self.function(instance_of(self.key_class, key), value)
        else:
            result = self.function(value)
        if self.shape == "pair":
            return _pair(result)
        if self.shape == "pairs":
            return [_pair(each) for each in result]
        return [plain(each) for each in result] if self.shape == "values" else plain(result)


def name_of(function: Callable[..., Any]) -> str:
    """Return a function's own name; for one that wraps another, that one's."""
    function = getattr(function, "wrapped", function)
    return getattr(function, "__qualname__", type(function).__name__)


def takes_key(function: Callable[..., Any]) -> bool:
    """Tell from a function's parameters whether it wants `(key, value)` or just `(value)`."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        return False  # some built-ins have no signature; those take the value
    required = [
        parameter
        for parameter in parameters
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    if len(required) > 2:
        raise PlanError(
            f"{name_of(function)} takes {len(required)} arguments: a function is called with the "
            "value, or with the key and the value"
        )
    return len(required) == 2


def instance_of(class_: type | None, value: Any) -> Any:
    """Return a dict as an instance of a dataclass, dataclasses inside it too."""
    if class_ is None or not isinstance(value, Mapping):
        return value
    nested = _nested(class_)
    return class_(**{name: _converted(nested.get(name), part) for name, part in value.items()})


def plain(value: Any) -> Any:
    """Return dataclasses as dicts."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return [plain(part) for part in value] if isinstance(value, list) else value


def _pair(result: Any) -> dict[str, Any]:
    key, value = result
    return {"key": plain(key), "value": plain(value)}


@functools.cache
def _nested(class_: type) -> dict[str, type]:
    """Return the fields that hold dataclasses, alone, optional or in lists."""
    found = {}
    for name, hint in typing.get_type_hints(class_).items():
        for part in (hint, *typing.get_args(hint)):
            if isinstance(part, type) and dataclasses.is_dataclass(part):
                found[name] = part
    return found


def _converted(class_: type | None, value: Any) -> Any:
    if class_ is not None and isinstance(value, list):
        return [instance_of(class_, part) for part in value]
    return instance_of(class_, value)
