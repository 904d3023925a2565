"""Loads a user's program and finds the app in it."""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import TYPE_CHECKING

from headwater.plan.errors import PlanError
from headwater.streams.app import App

if TYPE_CHECKING:
    from pathlib import Path

# Not a name that could be imported: Spark's workers must be sent the program's functions
# themselves, and would otherwise only be told where to import them from.
_MODULE = "__main__"


class ProgramError(Exception):
    """A program that cannot be loaded, or has no app."""


def load_app(program: Path, name: str | None = None) -> App:
    """Run a file as Python does and return the app that it builds."""
    folder = str(program.resolve().parent)
    sys.path.insert(0, folder)
    # What the program imports from beside it must be found by Spark's workers, too.
    os.environ["PYTHONPATH"] = os.pathsep.join(
        part for part in (folder, os.environ.get("PYTHONPATH")) if part
    )
    spec = importlib.util.spec_from_file_location(_MODULE, program)
    if spec is None or spec.loader is None:
        raise ProgramError(f"{program} is not a Python program")
    module = importlib.util.module_from_spec(spec)
    sys.modules[_MODULE] = module
    try:
        spec.loader.exec_module(module)
    except PlanError as failure:
        raise ProgramError(str(failure)) from failure
    except SyntaxError as failure:
        raise ProgramError(f"{program}:{failure.lineno}: {failure.msg}") from failure
    except SystemExit as failure:
        raise ProgramError(f"{program} ended by itself, with {failure.code}") from failure
    except Exception as failure:
        raise ProgramError(f"{_place(failure, program)}: {_text(failure)}") from failure
    return _the_app(vars(module), program, name)


def _the_app(names: dict[str, object], program: Path, wanted: str | None) -> App:
    apps = {id(value): value for value in names.values() if isinstance(value, App)}
    found = {app.name: app for app in apps.values()}
    if wanted is not None:
        if wanted not in found:
            raise ProgramError(f"{program} has no app {wanted!r}; it has {_list(found)}")
        return found[wanted]
    if len(found) != 1:
        hint = "; say which with --app" if found else ""
        raise ProgramError(f"{program} has {_list(found)} at its top level{hint}")
    return next(iter(found.values()))


def _list(found: dict[str, App]) -> str:
    return ", ".join(repr(name) for name in found) if found else "no App"


def _text(failure: Exception) -> str:
    return f"{type(failure).__name__}: {failure}"


def _place(failure: Exception, program: Path) -> str:
    """Return the program's own line that the error came from."""
    line = None
    # As importlib has it, however the command line did.
    file = str(program.absolute())
    trace = failure.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return str(program) if line is None else f"{program}:{line}"
