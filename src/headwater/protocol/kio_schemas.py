"""kio's schemas, imported without Hypothesis.

Where tests are written, Hypothesis is installed, and kio imports it to tell it of its types: ten
times what kio itself takes, in each broker and in each command.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "EntityType",
    "ErrorCode",
    "api_key_map",
    "load_request_schema",
    "load_response_schema",
    "schema_name_map",
]


@contextmanager
def _without_hypothesis() -> Iterator[None]:
    """Hide it from what is imported here; a process that has it already keeps it."""
    name = "hypothesis"
    if name in sys.modules:
        yield
        return
    # None is how Python notes what is not to be had.
    sys.modules[name] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[name]


with _without_hypothesis():
    from kio.index import load_request_schema, load_response_schema
    from kio.schema.errors import ErrorCode
    from kio.schema.index import api_key_map, schema_name_map
    from kio.static.constants import EntityType
