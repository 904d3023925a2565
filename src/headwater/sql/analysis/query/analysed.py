"""A query after analysis: sources found, expressions typed, keys known."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from headwater.sql.tree.statements.creation import SourceKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.sql.analysis.scope import Scope
    from headwater.sql.analysis.typed import Typed
    from headwater.sql.metastore.source import DataSource, KeyWindow, SourceColumn
    from headwater.sql.tree.expressions import Expression
    from headwater.sql.tree.queries import Emit, JoinKind, Window, Within
    from headwater.sql.types.sql_type import SqlType


@dataclass(frozen=True)
class ReadSource:
    """A source of a query, by its alias or its name."""

    alias: str
    source: DataSource

    @property
    def kind(self) -> SourceKind:
        """Whether its rows are a stream's or a table's."""
        return self.source.kind


class JoinShape(enum.Enum):
    """What is joined, and by what."""

    STREAM_STREAM = "stream-stream"
    STREAM_TABLE = "stream-table"
    TABLE_TABLE = "table-table"
    FOREIGN_KEY = "foreign-key table-table"


@dataclass(frozen=True)
class KeyPart:
    """A column of the key: the expressions that are equal to it, any of which may be selected.

    A synthetic one is a column of no source, which has `name` by itself. `equals` are all
    expressions that a further join by this key may use, those that nobody can select included.
    """

    name: str
    type: SqlType
    choices: tuple[Expression, ...]
    is_synthetic: bool = False
    equals: tuple[Expression, ...] = ()


@dataclass(frozen=True)
class ReadJoin:
    """Two relations that meet where `left_key` and `right_key` are equal."""

    left: ReadRelation
    kind: JoinKind
    right: ReadSource
    shape: JoinShape
    left_key: Typed
    right_key: Typed
    key: tuple[KeyPart, ...]
    within: Within | None = None

    @property
    def result(self) -> SourceKind:
        """Whether the pairs are a stream or a table."""
        is_table = self.shape in (JoinShape.TABLE_TABLE, JoinShape.FOREIGN_KEY)
        return SourceKind.TABLE if is_table else SourceKind.STREAM


ReadRelation: TypeAlias = ReadSource | ReadJoin


def relation_kind(relation: ReadRelation) -> SourceKind:
    """Return whether the rows of a relation are a stream's or a table's."""
    return relation.result if isinstance(relation, ReadJoin) else relation.kind


def sources_of(relation: ReadRelation) -> Iterator[ReadSource]:
    """Return the sources of a relation from left to right."""
    if isinstance(relation, ReadJoin):
        yield from sources_of(relation.left)
        yield relation.right
    else:
        yield relation


@dataclass(frozen=True)
class SelectedColumn:
    """A column of the result: its name, and the expression (with sources named) that it is."""

    name: str
    value: Typed
    expression: Expression
    is_key: bool = False


@dataclass(frozen=True)
class AnalysedQuery:
    """A query whose every part is found and typed.

    `key` is what the rows are keyed by after all clauses; `columns` is the schema of the result,
    the key's columns first. `aggregates` are the calls in SELECT and HAVING.
    """

    relation: ReadRelation
    scope: Scope
    selected: tuple[SelectedColumn, ...]
    key: tuple[KeyPart, ...]
    columns: tuple[SourceColumn, ...]
    kind: SourceKind
    where: Typed | None = None
    partition_by: tuple[Typed, ...] | None = None
    group_by: tuple[Typed, ...] = ()
    aggregates: tuple[Typed, ...] = ()
    having: Typed | None = None
    window: Window | None = None
    key_window: KeyWindow | None = None
    emit: Emit | None = None
    limit: int | None = None

    @property
    def is_aggregate(self) -> bool:
        """Whether rows are folded by group."""
        return bool(self.group_by)
