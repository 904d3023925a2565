"""Tests of programs in the pages about them run, on the session of all tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.docs_page import ROOT, blocks, needs_spark
from tests.spark_session import spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["spark"]


@pytest.mark.parametrize("page", ["docs/pipelines.md", "docs/testing.md"])
def test_the_page(spark: SparkSession, page: str) -> None:
    ran = []
    for code in filter(needs_spark, blocks(ROOT / page, "python")):
        names: dict[str, Any] = {}
        exec(code, names)
        for name, function in names.items():
            if name.startswith("test_"):
                function()
                ran.append(name)
    assert ran
