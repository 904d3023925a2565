"""The examples in docstrings run."""

from __future__ import annotations

import doctest
import importlib

import pytest


@pytest.mark.parametrize("module", ["app", "cogrouped", "grouped", "kstream"])
def test_examples(module: str) -> None:
    results = doctest.testmod(importlib.import_module(f"headwater.streams.{module}"))
    assert results.attempted >= 4
    assert results.failed == 0
