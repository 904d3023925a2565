"""Types that do not go together."""

from __future__ import annotations


class TypeMismatchError(Exception):
    """What is wrong with types, in words; whoever knows the place makes a SqlError of it."""
