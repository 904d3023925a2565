"""A calculator that keeps no number: it is what its operations make of 0."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, DivisionByZero, InvalidOperation
from typing import TYPE_CHECKING, Any

from examples.event_log import EventLog, EventWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TOPIC = "calculations"
_NAME = "calculator"

OPERATIONS: dict[str, Callable[[Decimal, Decimal], Decimal]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": lambda left, right: left / right,
}


@dataclass(frozen=True)
class Calculation:
    """An operation that was asked for, and what came of it; an error leaves the number as it was.

    As an event its numbers are text, so that none loses a digit on its way.
    """

    operation: str
    operand: Decimal
    result: Decimal
    error: str | None = None

    def event(self) -> dict[str, Any]:
        """Return it as it is written."""
        numbers = {"operand": str(self.operand), "result": str(self.result)}
        return {"operation": self.operation, **numbers, "error": self.error}

    @classmethod
    def of(cls, event: dict[str, Any]) -> Calculation:
        """Return what was written."""
        operand, result = Decimal(event["operand"]), Decimal(event["result"])
        return cls(event["operation"], operand, result, event["error"])


def calculate(number: Decimal, operation: str, operand: Decimal) -> Calculation:
    """Return what an operation does to a number; to divide by zero is something that happens.

    >>> calculate(Decimal(6), "/", Decimal(4)).result
    Decimal('1.5')
    >>> calculate(Decimal(6), "/", Decimal(0)).error
    'division by zero'
    """
    try:
        return Calculation(operation, operand, OPERATIONS[operation](number, operand))
    except (DivisionByZero, InvalidOperation):
        return Calculation(operation, operand, number, "division by zero")


class Calculator:
    """One of any number of calculators, whose operations are in one topic by its name."""

    def __init__(self, servers: str, name: str) -> None:
        self.name = name
        self._writer = EventWriter(servers, TOPIC, f"{_NAME}-{name}")
        self._log = EventLog(servers, TOPIC, f"{_NAME}-{name}")

    def do(self, operation: str, operand: Decimal) -> Calculation:
        """Calculate, and write down what came of it."""
        done = calculate(self.number(), operation, operand)
        self._writer.write(self.name, done.event())
        return done

    def number(self, after: int | None = None, until_ms: int | None = None) -> Decimal:
        """Return the number as it is, or as it was after so many operations or until a time."""
        number = Decimal(0)
        for count, (calculation, time_ms) in enumerate(self.history()):
            if count == after or (until_ms is not None and time_ms > until_ms):
                break
            number = calculation.result
        return number

    def history(self) -> Iterator[tuple[Calculation, int]]:
        """Return all that it ever did, and when, out of the topic."""
        for recorded in self._log.replay():
            if recorded.key == self.name:
                yield Calculation.of(recorded.event), recorded.time_ms

    def close(self) -> None:
        """Leave; whoever has its name next goes on with its number."""
        self._log.close()
