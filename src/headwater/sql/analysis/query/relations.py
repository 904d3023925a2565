"""FROM: the sources of a query, and the names that its expressions may use."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headwater.sql.analysis.query.analysed import ReadJoin, ReadRelation, ReadSource, sources_of
from headwater.sql.analysis.query.joins import analyse_join
from headwater.sql.analysis.scope import Scope
from headwater.sql.errors import SqlError
from headwater.sql.tree.queries import Join, Query, Relation, Source

if TYPE_CHECKING:
    from headwater.sql.metastore.metastore import Metastore


def read_relation(query: Query, metastore: Metastore) -> tuple[ReadRelation, Scope]:
    """Return the relation that a query reads, and the scope of its expressions."""
    sources = _read_sources(query.source, metastore)
    scope = Scope(
        {read.alias: read.source for read in sources.values()},
        {},
        metastore.types,
        query.window is not None,
    )
    relation = _relation(query.source, sources, scope)
    if isinstance(relation, ReadJoin):
        (first, *_) = relation.key
        if first.is_synthetic:
            scope = replace(scope, join_key=(first.name, first.type))
    for clause, is_there in (("GROUP BY", query.group_by), ("JOIN", len(sources) > 1)):
        if is_there:
            _refuse_kafka_values(relation, clause, query)
    return relation, scope


def _read_sources(relation: Relation, metastore: Metastore) -> dict[int, ReadSource]:
    """Return the sources by the identity of their place in the tree."""
    found: dict[int, ReadSource] = {}
    names: set[str] = set()
    for source in _sources(relation):
        known = metastore.source(source.name, source.location)
        if source.name in names:
            raise SqlError(
                f"{source.name} is joined with itself, which is not possible yet: make another "
                "stream or table over its topic",
                source.location,
            )
        names.add(source.name)
        alias = source.alias or source.name
        if any(read.alias == alias for read in found.values()):
            raise SqlError(f"two sources are called {alias}", source.location)
        found[id(source)] = ReadSource(alias, known)
    return found


def _relation(relation: Relation, sources: dict[int, ReadSource], scope: Scope) -> ReadRelation:
    if isinstance(relation, Source):
        return sources[id(relation)]
    left = _relation(relation.left, sources, scope)
    return analyse_join(relation, left, sources[id(relation.right)], scope)


def _sources(relation: Relation) -> list[Source]:
    if isinstance(relation, Join):
        return [*_sources(relation.left), relation.right]
    return [relation]


def _refuse_kafka_values(relation: ReadRelation, clause: str, query: Query) -> None:
    for read in sources_of(relation):
        if read.source.value_format.name in ("KAFKA", "NONE"):
            raise SqlError(
                f"{read.source.name} has values in the {read.source.value_format.name} format, "
                f"which cannot be used with {clause}: make a stream of it in another format first",
                query.source.location,
            )
