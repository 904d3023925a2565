"""Keeps the garbage collector from looking through what is there for good: modules and tests.

All tests of the project are half a million objects, through which each full collection would look
again. They are not made the sooner for it, either.
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
