"""The page about streams: its programs are built, and print what it says."""

from __future__ import annotations

import contextlib
import io
import re
from typing import TYPE_CHECKING

import pytest
from tests.docs_page import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PAGE = ROOT / "docs" / "streams.md"
_PROGRAM = re.compile(
    r"^```python\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL
)
PROGRAMS = _PROGRAM.findall(PAGE.read_text())


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_program(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, expected = PROGRAMS[number]
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, tmp_path / "from_page.py", "exec"), {"__name__": "__main__"})
    assert printed.getvalue() == expected


def test_every_app_of_the_page_can_be_drawn(tmp_path: Path) -> None:
    drawn = 0
    for code, _ in PROGRAMS:
        names: dict[str, object] = {"__name__": "__main__"}
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(code, tmp_path / "from_page.py", "exec"), names)
        app = names.get("app")
        if app is not None:
            assert app.describe()  # type: ignore[attr-defined]
            assert app.svg()  # type: ignore[attr-defined]
            drawn += 1
    assert drawn >= 5
