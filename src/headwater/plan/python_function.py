"""A user's Python function as an operand: what it is called with and what it returns."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater.plan.errors import PlanError

if TYPE_CHECKING:
    from headwater.plan.types import DataType


@dataclass(frozen=True)
class PythonFunction:
    """A function of a record's value, or of its key and its value.

    Structs arrive as dicts, or as instances of the dataclass that declared the type. A dataclass
    that comes back, alone or in lists, becomes a dict.
    """

    function: Callable[..., Any]
    returns: DataType
    takes_key: bool
    key_class: type | None = None
    value_class: type | None = None
    skips_null: bool = False

    @property
    def name(self) -> str:
        """The function's own name."""
        return getattr(self.function, "__qualname__", type(self.function).__name__)

    def __call__(self, key: Any, value: Any) -> Any:
        """Call the user's function for one record and return plain values."""
        if self.skips_null and value is None:
            return None
        value = _instance(self.value_class, value)
        if self.takes_key:
            return _plain(self.function(_instance(self.key_class, key), value))
        return _plain(self.function(value))


def takes_key(function: Callable[..., Any]) -> bool:
    """Tell from a function's parameters whether it wants `(key, value)` or just `(value)`."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        return False  # some built-ins have no signature; `len` and `str` take the value
    required = [
        parameter
        for parameter in parameters
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    if len(required) > 2:
        name = getattr(function, "__qualname__", repr(function))
        raise PlanError(
            f"{name} takes {len(required)} arguments: a function is called with the value, or "
            "with the key and the value"
        )
    return len(required) == 2


def _instance(class_: type | None, value: Any) -> Any:
    if class_ is None or not isinstance(value, Mapping):
        return value
    return class_(**value)


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, tuple):
        return tuple(_plain(part) for part in value)
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return value
