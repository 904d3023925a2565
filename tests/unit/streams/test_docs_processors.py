"""The page about processors: its programs are built, and print what it says."""

from __future__ import annotations

import contextlib
import io
import re

import pytest
from tests.docs_page import ROOT

_PROGRAM = re.compile(
    r"^```python\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL
)
PROGRAMS = _PROGRAM.findall((ROOT / "docs" / "processors.md").read_text("utf-8"))


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_program(number: int) -> None:
    code, expected = PROGRAMS[number]
    names: dict[str, object] = {"__name__": "__main__"}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "from_page.py", "exec"), names)
    assert printed.getvalue() == expected
    assert names["app"].svg()  # type: ignore[attr-defined]
