"""Adds the user's line to errors that a step of the program causes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.plan.errors import PlanError
from headwater.plan.location import caller
from headwater.plan.schemas.types import TypeTextError

if TYPE_CHECKING:
    from types import TracebackType


class Located:
    """A block whose errors say `file.py:12`; the text is its value.

    A class and not a generator: contextlib's own frames would hide the user's.
    """

    def __enter__(self) -> str:
        self._location = caller()
        return self._location

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if isinstance(error, PlanError) and not error.location:
            raise type(error)(error.reason, self._location) from None
        if isinstance(error, TypeTextError):
            raise PlanError(str(error), self._location) from error
