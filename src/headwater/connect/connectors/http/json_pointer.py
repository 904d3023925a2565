"""JSON pointers (RFC 6901): where in a document something is."""

from __future__ import annotations

from typing import Any


def pointed_at(document: Any, pointer: str) -> Any:
    """Return what a pointer such as /data/items/0 names; raises ValueError if it is not there.

    >>> pointed_at({"data": {"a/b": [1, 2]}}, "/data/a~1b/1")
    2
    >>> pointed_at({"data": {}}, "/data/items")
    Traceback (most recent call last):
    ...
    ValueError: there is nothing at /data/items
    """
    if pointer and not pointer.startswith("/"):
        raise ValueError(f"{pointer} is no JSON pointer, such as /data/items")
    found = document
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict) and name in found:
            found = found[name]
        elif isinstance(found, list) and name.isdigit() and int(name) < len(found):
            found = found[int(name)]
        else:
            raise ValueError(f"there is nothing at {pointer}")
    return found
