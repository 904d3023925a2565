"""Schemas as the mappings of indices, and indices that are made with them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from headwater.connect.connectors.connector import ConnectorError
from headwater.connect.data import schema as connect
from headwater.connect.data.schema import Schema, Type

if TYPE_CHECKING:
    from headwater.connect.connectors.elasticsearch.cluster import Cluster
    from headwater.connect.connectors.http.connection import Answer

_TYPES = {
    Type.BOOLEAN: "boolean",
    Type.INT8: "byte",
    Type.INT16: "short",
    Type.INT32: "integer",
    Type.INT64: "long",
    Type.FLOAT32: "float",
    Type.FLOAT64: "double",
    Type.BYTES: "binary",
}
_LOGICAL = {
    connect.DECIMAL: "double",
    connect.DATE: "date",
    connect.TIME: "date",
    connect.TIMESTAMP: "date",
}
# Text to search in, and as a whole to sort and count by: what clusters make of text themselves.
_TEXT = {"type": "text", "fields": {"keyword": {"type": "keyword", "ignore_above": 256}}}


def mapping_of(schema: Schema, *, compact: bool) -> dict[str, Any]:
    """Return the mapping of values of a schema.

    >>> tags = Schema(Type.ARRAY, value=Schema(Type.INT32))
    >>> mapping_of(connect.struct({"at": connect.timestamp(), "tags": tags}), compact=True)
    {'properties': {'at': {'type': 'date'}, 'tags': {'type': 'integer'}}}
    """
    if schema.logical is not None:
        return {"type": _LOGICAL[schema.logical]}
    match schema.type:
        case Type.STRUCT:
            fields = {each.name: each.schema for each in schema.fields}
        case Type.ARRAY:
            assert schema.value is not None
            return mapping_of(schema.value, compact=compact)
        case Type.MAP:
            assert schema.key is not None
            assert schema.value is not None
            if compact and schema.key.type is Type.STRING:
                return {"type": "object"}
            fields = {"key": schema.key, "value": schema.value}
        case Type.STRING:
            return dict(_TEXT)
        case _:
            return {"type": _TYPES[schema.type]}
    made = {name: mapping_of(each, compact=compact) for name, each in fields.items()}
    return {"properties": made}


class Indices:
    """Makes the indices that are missing, each with a mapping, unless schemas are ignored."""

    def __init__(self, cluster: Cluster, *, compact: bool) -> None:
        self._cluster = cluster
        self._compact = compact
        self._known: set[str] = set()

    def fit(self, index: str, schema: Schema | None, *, ignores_schema: bool) -> None:
        """See to it that an index is there; what somebody has mapped stays as it is."""
        if index in self._known:
            return
        answer = self._cluster.ask("GET", f"/{index}/_mapping", answers=(404,))
        is_there = answer.is_yes
        # An alias may stand for several.
        mapped = is_there and any(
            each["mappings"].get("properties") for each in json.loads(answer.body).values()
        )
        if not is_there:
            mappings = {} if ignores_schema else self._mapping(index, schema)
            self._create(index, mappings)
        elif not mapped and not ignores_schema:
            self._put(f"/{index}/_mapping", self._mapping(index, schema))
        self._known.add(index)

    def fit_stream(self, name: str) -> None:
        """See to it that a data stream is there; its template has the mapping."""
        if name in self._known:
            return
        path = f"/_data_stream/{name}"
        if not self._cluster.ask("GET", path, answers=(404,)).is_yes:
            answer = self._cluster.ask("PUT", path, answers=(400,))
            if not answer.is_yes and b"resource_already_exists_exception" not in answer.body:
                raise ConnectorError(
                    f"the data stream {name} cannot be made: {answer.shown()}; it needs an index "
                    "template with data_stream for this name"
                )
        self._known.add(name)

    def _mapping(self, index: str, schema: Schema | None) -> dict[str, Any]:
        if schema is None:
            raise ConnectorError(
                f"the records for the index {index} have no schema to make a mapping of: with "
                "schema.ignore=true the cluster finds types by itself; or make the index "
                "beforehand, or take a converter with schemas"
            )
        if schema.type is not Type.STRUCT:
            return {}
        return mapping_of(schema, compact=self._compact)

    def _create(self, index: str, mappings: dict[str, Any]) -> None:
        answer = self._put(f"/{index}", {"mappings": mappings}, answers=(400,))
        if not answer.is_yes and b"resource_already_exists_exception" not in answer.body:
            raise ConnectorError(f"the index {index} cannot be made: {answer.shown()}")

    def _put(self, path: str, body: dict[str, Any], answers: tuple[int, ...] = ()) -> Answer:
        return self._cluster.ask("PUT", path, json.dumps(body).encode(), answers=answers)
