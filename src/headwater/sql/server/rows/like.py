"""LIKE: texts beside patterns with `%` and `_`, matched by RE2, which never backtracks."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.sql.server.rows.row import Computation, Row


def like(parts: Sequence[Computation], escape: str | None, negated: bool) -> Computation:
    """Return what tells whether the first part is like the second; nothing is like null."""
    value, pattern = parts

    def is_like(row: Row) -> bool:
        text, wanted = value(row), pattern(row)
        if text is None or wanted is None:
            return negated
        return (_pattern(wanted, escape).fullmatch(text) is not None) is not negated

    return is_like


@functools.lru_cache(maxsize=1000)
def _pattern(text: str, escape: str | None) -> Any:
    # Imported when a pattern is first used: most queries have none.
    import re2

    made, letters = "(?s)", iter(text)
    for letter in letters:
        if letter == escape:
            made += re2.escape(next(letters, letter))
        else:
            made += {"%": ".*", "_": "."}.get(letter) or re2.escape(letter)
    return re2.compile(made)
