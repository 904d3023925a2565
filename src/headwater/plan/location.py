"""The line of the user's program that called into Headwater."""

from __future__ import annotations

import sys
from pathlib import Path

_OURS = str(Path(__file__).resolve().parent.parent) + "/"
_BUILDERS = tuple(f"{_OURS}{package}/" for package in ("plan", "streams", "sql"))


def caller() -> str:
    """Return `file.py:12` of the nearest frame that is not a builder of plans."""
    frame = sys._getframe(1)  # noqa: SLF001 - inspect.stack reads every source file
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_BUILDERS):
        frame = frame.f_back
    return f"{_shown(frame.f_code.co_filename)}:{frame.f_lineno}"


def _shown(filename: str) -> str:
    path = Path(filename)
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return path.name
