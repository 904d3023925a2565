"""The page about running pipelines: its test of a program runs, on the session of all tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.docs_page import ROOT, blocks
from tests.spark_session import spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["spark"]


def test_the_page(spark: SparkSession) -> None:
    ran = []
    for code in blocks(ROOT / "docs/pipelines.md", "python"):
        names: dict[str, Any] = {}
        exec(code, names)
        for name, function in names.items():
            if name.startswith("test_"):
                function()
                ran.append(name)
    assert ran
