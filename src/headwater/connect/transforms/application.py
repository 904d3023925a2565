"""Applies steps to a DataFrame of records, without knowing Spark's Python: the steps are SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self, TypeVar

from headwater.plan.schemas.types import backticked

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater.connect.transforms.transform import Step

FAILED = "_failed"
"""The column that says why a record has failed; null where it has not."""


class Frame(Protocol):
    """What is needed of a DataFrame."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        ...

    def selectExpr(self, *expressions: str) -> Self:  # noqa: N802 - Spark's name
        """Return a frame of expressions."""
        ...

    def where(self, condition: str) -> Self:
        """Return a frame of the rows that a condition is true for."""
        ...


F = TypeVar("F", bound=Frame)


def apply_steps(frame: F, steps: Iterable[Step]) -> F:
    """Return the records after all the steps, with the column FAILED.

    A record that fails is kept, so that whoever is told to can write it elsewhere; later steps
    leave it alone. The frame may have FAILED already, from the converters.
    """
    if FAILED not in frame.columns:
        frame = frame.selectExpr("*", f"cast(null as string) as {FAILED}")
    for step in steps:
        frame = _apply(frame, step)
    return frame


def _apply(frame: F, step: Step) -> F:
    if step.failed is not None:
        others = [backticked(name) for name in frame.columns if name != FAILED]
        frame = frame.selectExpr(*others, f"coalesce({FAILED}, {step.failed}) as {FAILED}")
    if step.where is not None:
        frame = frame.where(f"{FAILED} is not null or ({step.where})")
    if step.columns:
        frame = frame.selectExpr(*(_column(name, step) for name in frame.columns))
    return frame


def _column(name: str, step: Step) -> str:
    quoted = backticked(name)
    if name not in step.columns:
        return quoted
    return f"if({FAILED} is null, {step.columns[name]}, null) as {quoted}"
