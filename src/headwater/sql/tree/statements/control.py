"""TERMINATE, PAUSE and RESUME: queries that run."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from headwater.sql.tree.node import Node


class QueryAction(enum.Enum):
    """What is done to a query."""

    TERMINATE = "TERMINATE"
    PAUSE = "PAUSE"
    RESUME = "RESUME"


@dataclass(frozen=True)
class ControlQuery(Node):
    """An action on the query of this id, or on all of them."""

    action: QueryAction
    query_id: str | None = None
