"""The examples in docstrings are run."""

from __future__ import annotations

import doctest
import importlib

import pytest


@pytest.mark.parametrize(
    "module",
    ["", ".definition", ".given", ".properties", ".references", ".sources", ".toml", ".values"],
)
def test_examples(module: str) -> None:
    results = doctest.testmod(importlib.import_module(f"headwater.config{module}"))
    assert results.attempted > 0
    assert results.failed == 0
