"""Paths into JSON: `$.name`, `$["any name"]` and `$[0]`, one after the other."""

from __future__ import annotations

import functools
import re

_STEP = re.compile(r'\.((?:\w|:)+)|\[(\w+)\]|\["((?:[^"\\]|\\["\\])*)"\]')


@functools.lru_cache(maxsize=1000)
def steps(path: str) -> tuple[str, ...]:
    """Return the names and numbers of a path's steps; raises ValueError for what is no path.

    >>> steps('$.a["b c"][0]')
    ('a', 'b c', '0')
    """
    if not path.startswith("$"):
        raise ValueError(f"{path} does not begin with $")
    found, at = [], 1
    while at < len(path):
        step = _STEP.match(path, at)
        if step is None:
            raise ValueError(f"there is no step at {path[at:]}")
        plain, bracketed, quoted = step.groups()
        found.append(re.sub(r"\\(.)", r"\1", quoted) if quoted is not None else plain or bracketed)
        at = step.end()
    return tuple(found)
