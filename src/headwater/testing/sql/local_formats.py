"""Queries whose topics are in JSON where statements have them in formats of a registry.

No registry is asked in a test, so that AVRO, JSON_SR and PROTOBUF are not judged, nor is
PROTOBUF_NOSR, which nobody can read in a test's records.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headwater.sql.analysis.query.analysed import ReadJoin, ReadRelation, ReadSource
from headwater.sql.metastore.formats import FORMATS, ChosenFormat

if TYPE_CHECKING:
    from headwater.sql.analysis.outcomes import StoreQuery
    from headwater.sql.metastore.source import DataSource

_JSON = ChosenFormat(FORMATS["JSON"])


def without_registry(stored: StoreQuery) -> StoreQuery:
    """Return a query that reads and writes JSON for formats of a registry."""
    query = replace(stored.query, relation=_relation(stored.query.relation))
    return replace(stored, query=query, sink=source_without_registry(stored.sink))


def source_without_registry(source: DataSource) -> DataSource:
    """Return a source that is in JSON if it was in a format of a registry."""
    return replace(
        source, key_format=_local(source.key_format), value_format=_local(source.value_format)
    )


def _relation(relation: ReadRelation) -> ReadRelation:
    if isinstance(relation, ReadJoin):
        return replace(relation, left=_relation(relation.left), right=_source(relation.right))
    return _source(relation)


def _source(read: ReadSource) -> ReadSource:
    return replace(read, source=source_without_registry(read.source))


def _local(chosen: ChosenFormat) -> ChosenFormat:
    return _JSON if chosen.format.is_in_registry or chosen.name == "PROTOBUF_NOSR" else chosen
