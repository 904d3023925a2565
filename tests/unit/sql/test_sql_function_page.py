"""The page of functions says what the catalogue says, and every function is computed."""

from __future__ import annotations

import runpy
from pathlib import Path

from headwater.sql.functions.catalogue.all_functions import FUNCTIONS
from headwater.sql.functions.function import FunctionKind
from headwater.sql.planning.functions.all_functions import FORMULAS
from headwater.sql.server.rows.functions.all_functions import FUNCTIONS as IN_PYTHON

DOCS = Path(__file__).parents[3] / "docs"


def test_the_page_is_that_of_the_catalogue() -> None:
    written = runpy.run_path(str(DOCS / "sql_functions.py"))["page"]()
    assert (DOCS / "sql-functions.md").read_text() == written, "run `python docs/sql_functions.py`"


def test_every_scalar_function_can_be_computed_by_spark_and_in_python() -> None:
    scalars = {name for name, each in FUNCTIONS.items() if each.kind is FunctionKind.SCALAR}
    assert scalars == FORMULAS.keys()
    assert scalars == IN_PYTHON.keys()
