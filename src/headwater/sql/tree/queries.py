"""SELECT: what is selected, from which sources, in which windows, grouped and filtered how."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from headwater.sql.tree.node import Node

if TYPE_CHECKING:
    from headwater.sql.tree.expressions import Expression


class TimeUnit(enum.Enum):
    """A unit of time of windows and time-outs."""

    YEARS = "YEARS"
    MONTHS = "MONTHS"
    DAYS = "DAYS"
    HOURS = "HOURS"
    MINUTES = "MINUTES"
    SECONDS = "SECONDS"
    MILLISECONDS = "MILLISECONDS"


@dataclass(frozen=True)
class Duration(Node):
    """A length of time, such as `30 SECONDS`."""

    amount: int
    unit: TimeUnit


@dataclass(frozen=True)
class SelectExpression(Node):
    """`expression [AS alias]`."""

    expression: Expression
    alias: str | None = None


@dataclass(frozen=True)
class SelectAll(Node):
    """`*`, or `source.*`."""

    source: str | None = None


@dataclass(frozen=True)
class SelectFields(Node):
    """`struct->*`: every field of a struct."""

    struct: Expression


SelectItem: TypeAlias = SelectExpression | SelectAll | SelectFields


@dataclass(frozen=True)
class Source(Node):
    """A stream or a table, by its name."""

    name: str
    alias: str | None = None


class JoinKind(enum.Enum):
    """Which rows of the two sides are in the result."""

    INNER = "INNER"
    LEFT = "LEFT OUTER"
    RIGHT = "RIGHT OUTER"
    FULL = "FULL OUTER"


@dataclass(frozen=True)
class Within(Node):
    """How far apart in time rows of two streams may be to meet."""

    before: Duration
    after: Duration
    grace: Duration | None = None


@dataclass(frozen=True)
class Join(Node):
    """Two relations where `on` holds."""

    left: Relation
    kind: JoinKind
    right: Source
    on: Expression
    within: Within | None = None


Relation: TypeAlias = Source | Join


@dataclass(frozen=True)
class TumblingWindow(Node):
    """Windows of one size, one after the other."""

    size: Duration
    retention: Duration | None = None
    grace: Duration | None = None


@dataclass(frozen=True)
class HoppingWindow(Node):
    """Windows of one size that start every `advance`."""

    size: Duration
    advance: Duration
    retention: Duration | None = None
    grace: Duration | None = None


@dataclass(frozen=True)
class SessionWindow(Node):
    """Windows that end where nothing came for as long as `gap`."""

    gap: Duration
    retention: Duration | None = None
    grace: Duration | None = None


Window: TypeAlias = TumblingWindow | HoppingWindow | SessionWindow


class Emit(enum.Enum):
    """When a push query tells of a result: at each change, or when it is final."""

    CHANGES = "CHANGES"
    FINAL = "FINAL"


@dataclass(frozen=True)
class Query(Node):
    """A SELECT; without `emit` it is a pull query, if it stands alone."""

    select: tuple[SelectItem, ...]
    source: Relation
    window: Window | None = None
    where: Expression | None = None
    group_by: tuple[Expression, ...] = ()
    partition_by: tuple[Expression, ...] = ()
    having: Expression | None = None
    emit: Emit | None = None
    limit: int | None = None
