"""A function of the language, as SHOW FUNCTIONS and DESCRIBE FUNCTION tell of it."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.sql.functions.signature_text import signatures

if TYPE_CHECKING:
    from headwater.sql.functions.signature import Signature


class FunctionKind(enum.Enum):
    """How many rows a function reads and returns: one, a group's, or several out of one."""

    SCALAR = "SCALAR"
    AGGREGATE = "AGGREGATE"
    TABLE = "TABLE"


@dataclass(frozen=True)
class Function:
    """A name, what it is for, and the ways to call it."""

    name: str
    kind: FunctionKind
    category: str
    description: str
    signatures: tuple[Signature, ...]


def scalar(category: str, name: str, description: str, *texts: str) -> Function:
    """Return a function of one row."""
    return _function(FunctionKind.SCALAR, category, name, description, texts)


def aggregate(name: str, description: str, *texts: str) -> Function:
    """Return a function of a group's rows."""
    return _function(FunctionKind.AGGREGATE, "AGGREGATE", name, description, texts)


def table(name: str, description: str, *texts: str) -> Function:
    """Return a function that makes several rows of one."""
    return _function(FunctionKind.TABLE, "TABLE", name, description, texts)


def _function(
    kind: FunctionKind, category: str, name: str, description: str, texts: tuple[str, ...]
) -> Function:
    ways = tuple(signature for text in texts for signature in signatures(text))
    return Function(name, kind, category, description, ways)
