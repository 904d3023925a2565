"""A row that is computed with, and what computes something of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

Row: TypeAlias = Mapping[tuple[str, str], Any]
"""Values by source, as the query names it, and column."""

Computation: TypeAlias = Callable[[Row], Any]

LAMBDA = "=>"
"""What parameters of lambdas have in place of a source."""
