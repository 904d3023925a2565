"""Folding by a user's Python functions: the values of a key, or of each of its windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater.plan.expressions.python_function import instance_of, plain
from headwater.plan.processing.processor import Processor, ProcessorContext, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

STORE = "value"


@dataclass(frozen=True)
class Fold:
    """Makes the processor that folds the records of a key.

    With an initializer, the function is called with key, value and the result so far, as Kafka
    Streams' Aggregator; without one, with the result so far and the value, as its Reducer, and the
    first value is the first result. A result of None deletes.
    """

    function: Callable[..., Any]
    returns: str
    result_class: type | None = None
    initializer: Callable[[], Any] | None = None

    def __call__(self) -> Processor:
        """Return the processor."""
        return _Folding(self)

    @property
    def classes(self) -> tuple[Any, ...]:
        """What of the user's program has to be where it runs."""
        return (self.function, self.initializer, self.result_class)

    @property
    def wrapped(self) -> Callable[..., Any]:
        """What it is called after."""
        return self.function

    def folded(self, key: Any, before: Any, value: Any) -> Any:
        """Return the next result."""
        old = instance_of(self.result_class, before)
        if self.initializer is not None:
            return self.function(key, value, self.initializer() if before is None else old)
        return value if before is None else self.function(old, value)


@dataclass(frozen=True)
class WindowFold:
    """Folds the values of a window, all of them together, in the order of their arrival.

    They are in the window's field of the name `VALUES`; where that is None, the window is gone.
    `fields` are those of a result that is a struct, which stand beside the window's bounds.
    """

    fold: Fold
    value_class: type | None
    fields: tuple[str, ...]

    VALUES = "values"

    @property
    def wrapped(self) -> Callable[..., Any]:
        """What it is called after."""
        return self.fold.function

    def __call__(self, key: Any, window: Mapping[str, Any]) -> dict[str, Any]:
        """Return the window with its result."""
        result: Any = None
        for value in window[self.VALUES] or ():
            result = plain(self.fold.folded(key, result, instance_of(self.value_class, value)))
        bounds = {name: part for name, part in window.items() if name != self.VALUES}
        if not self.fields:
            return {**bounds, "value": result}
        given = {} if result is None else result
        return {**bounds, **{name: given.get(name) for name in self.fields}}


class _Folding(Processor):
    def __init__(self, fold: Fold) -> None:
        self._fold = fold

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self._value = context.value_store(STORE, self._fold.returns)

    def process(self, record: Record) -> None:
        if record.key is None or record.value is None:
            return
        result = plain(self._fold.folded(record.key, self._value.get(), record.value))
        if result is None:
            self._value.delete()
        else:
            self._value.put(result)
        self.context.forward(result)
