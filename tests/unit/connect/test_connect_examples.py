"""The examples in docstrings are run, and the page of transforms says what the definitions say."""

from __future__ import annotations

import doctest
import importlib
import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize(
    "module",
    [
        "converters.avro_schemas",
        "converters.json_schema_schemas",
        "converters.json_schemas",
        "converters.protobuf_schemas",
        "data.schema",
        "data.spark_types",
        "data.sql_text",
        "transforms.date_patterns",
        "transforms.debezium.envelope",
        "transforms.field_path",
    ],
)
def test_docstrings(module: str) -> None:
    results = doctest.testmod(importlib.import_module(f"headwater.connect.{module}"))
    assert results.attempted > 0
    assert results.failed == 0


def test_the_page_is_what_the_definitions_say() -> None:
    written = runpy.run_path(str(DOCS / "connect_transforms.py"))["page"]()
    page = DOCS / "connect-transforms.md"
    assert page.read_text() == written, "run `python docs/connect_transforms.py`"
