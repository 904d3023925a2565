"""The pages of connectors have the properties that the code has."""

from __future__ import annotations

import runpy
from pathlib import Path

DOCS = Path(__file__).parents[4] / "docs"


def test_pages_are_as_the_definitions_have_them() -> None:
    written = runpy.run_path(str(DOCS / "connectors.py"))
    for page in written["PAGES"]:
        assert page.read_text() == written["page"](page), "run `python docs/connectors.py`"
