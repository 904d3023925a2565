"""Nulls."""

from __future__ import annotations

from functools import partial

from headwater.sql.functions.function import Function, scalar

_null = partial(scalar, "NULLS")

FUNCTIONS: tuple[Function, ...] = (
    _null("COALESCE", "The first value that is not null.", "(first T, others T...) T"),
    _null("IFNULL", "The first value, or the other if it is null.", "(value T, otherwise T) T"),
    _null("NULLIF", "Null if both are equal, else the first.", "(value T, other T) T"),
)
