"""The page of functions says what the catalogue says, and every function is computed."""

from __future__ import annotations

import runpy
from pathlib import Path

from headwater.sql.functions.catalogue.all_functions import FUNCTIONS
from headwater.sql.functions.function import FunctionKind
from headwater.sql.planning.functions.all_functions import FORMULAS
from headwater.sql.server.rows.calls import COMPUTED

DOCS = Path(__file__).parents[3] / "docs"


def test_the_page_is_that_of_the_catalogue() -> None:
    written = runpy.run_path(str(DOCS / "sql_functions.py"))["page"]()
    assert (DOCS / "sql-functions.md").read_text() == written, "run `python docs/sql_functions.py`"


def test_the_list_of_what_pull_queries_compute_is_on_its_page() -> None:
    page = (DOCS / "sql-differences.md").read_text()
    assert f"| {', '.join(COMPUTED)}; others are refused" in page


def test_every_scalar_function_can_be_computed() -> None:
    scalars = {name for name, each in FUNCTIONS.items() if each.kind is FunctionKind.SCALAR}
    assert scalars == FORMULAS.keys()
