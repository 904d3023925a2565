"""The programs that run on both engines: each a function that returns what it saw."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from tests.differential.engine import Engine


class Program(Protocol):
    """Does something with an engine and returns what it saw, as plain data.

    Topics, groups and transactional ids begin with `name`, which is the program's own and the
    same on both engines.
    """

    __name__: str

    def __call__(self, engine: Engine, name: str) -> Any: ...


PROGRAMS: dict[str, Program] = {}


def program(function: Program) -> Program:
    """Make a function one of the programs."""
    name = function.__name__.replace("_", "-")
    assert name not in PROGRAMS, f"two programs are called {name}"
    PROGRAMS[name] = function
    return function


def load_programs() -> dict[str, Program]:
    """Every program of every area, by its name."""
    for path in sorted((Path(__file__).parent / "programs").glob("*.py")):
        importlib.import_module(f"tests.differential.programs.{path.stem}")
    return PROGRAMS
