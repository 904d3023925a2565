"""What a statement asks for, after analysis, and what it changes in the metastore."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.sql.analysis.query.analysed import AnalysedQuery
    from headwater.sql.analysis.typed import Typed
    from headwater.sql.metastore.metastore import Metastore
    from headwater.sql.metastore.source import DataSource, SourceColumn
    from headwater.sql.types.sql_type import SqlType


@dataclass(frozen=True)
class MakeSource:
    """A stream or a table over a topic, new, changed or in place of one of its name."""

    source: DataSource


@dataclass(frozen=True)
class StoreQuery:
    """A query whose rows go to a source; `is_new` tells whether the statement makes that one.

    `settings` are those of the session that the query is to run with.
    """

    query: AnalysedQuery
    sink: DataSource
    is_new: bool
    settings: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class PushQuery:
    """A query whose rows go to whoever asked."""

    query: AnalysedQuery


@dataclass(frozen=True)
class InsertRow:
    """A row with a value for each of these columns."""

    target: DataSource
    values: tuple[tuple[SourceColumn, Typed], ...]


@dataclass(frozen=True)
class DropSource:
    """A source to be forgotten, and with `delete_topic` its records."""

    source: DataSource
    delete_topic: bool


@dataclass(frozen=True)
class MakeType:
    """A name for a type."""

    name: str
    type: SqlType


@dataclass(frozen=True)
class DropType:
    """A type's name to be forgotten."""

    name: str


@dataclass(frozen=True)
class Nothing:
    """Nothing: what should be made is there already, or what should go is not."""

    reason: str


Outcome: TypeAlias = (
    MakeSource | StoreQuery | PushQuery | InsertRow | DropSource | MakeType | DropType | Nothing
)


def apply(outcome: Outcome, metastore: Metastore) -> None:
    """Change the metastore as a statement asks."""
    match outcome:
        case MakeSource(source):
            metastore.put(source)
        case StoreQuery(_, sink, True):
            metastore.put(sink)
        case DropSource(source):
            metastore.drop(source.name)
        case MakeType(name, type_):
            metastore.types[name] = type_
        case DropType(name):
            metastore.types.pop(name, None)
        case _:
            pass
