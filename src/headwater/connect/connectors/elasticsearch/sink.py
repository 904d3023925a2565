"""The Elasticsearch sink: records become documents of an index, each once."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import headwater
from headwater.connect.connectors.connector import ConnectorError, ConnectorType, RefusedRecord
from headwater.connect.connectors.elasticsearch.bulk import BulkWriter
from headwater.connect.connectors.elasticsearch.cluster import Cluster
from headwater.connect.connectors.elasticsearch.mapping import Indices
from headwater.connect.connectors.elasticsearch.settings import (
    DEFINITIONS,
    check,
    choice,
    is_stream,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from headwater.config import Values
    from headwater.connect.connectors.connector import (
        ConnectorContext,
        FieldError,
        SinkBatch,
        TopicPartition,
    )

_LOGGER = logging.getLogger(__name__)
_MOST_LOGGED = 10


class ElasticsearchSinkPlugin:
    """Writes documents to Elasticsearch or OpenSearch."""

    class_names = (
        "io.confluent.connect.elasticsearch.ElasticsearchSinkConnector",
        "ElasticsearchSinkConnector",
        "ElasticsearchSink",
        "io.aiven.kafka.connect.opensearch.OpenSearchSinkConnector",
        "io.aiven.kafka.connect.opensearch.OpensearchSinkConnector",
        "OpenSearchSinkConnector",
        "OpenSearchSink",
    )
    type = ConnectorType.SINK
    version = headwater.__version__
    definitions = DEFINITIONS

    def check(self, config: Values) -> list[FieldError]:
        """Return what is missing or does not go together."""
        return check(config)

    def open(self, config: Values, context: ConnectorContext) -> ElasticsearchSink:
        """Return a sink; the cluster is first asked when there is something to write."""
        if errors := check(config):
            raise ConnectorError("; ".join(f"{each.name}: {each.message}" for each in errors))
        return ElasticsearchSink(config, context.name)


class ElasticsearchSink:
    """Documents of one cluster. A record that comes again changes nothing."""

    def __init__(self, config: Values, name: str) -> None:
        self._config = config
        self._name = name
        self._cluster = Cluster(config)
        self._indices = Indices(self._cluster, compact=config.boolean("compact.map.entries"))
        self._bulk = BulkWriter(self._cluster, config)

    def write(self, batch: SinkBatch) -> None:
        """Write a batch; what the cluster will never take is among the batch's `refused`."""
        self.write_rows(batch, self.columns(batch).toArrow())

    def columns(self, batch: SinkBatch) -> DataFrame:
        """Return the lines of requests."""
        from headwater.connect.connectors.elasticsearch.documents import bulk_lines

        return bulk_lines(batch, self._config)

    def write_rows(self, batch: SinkBatch, rows: pa.Table | None) -> None:
        """Send the lines."""
        import pyarrow.compute as pc

        assert rows is not None
        written = rows.filter(pc.is_valid(rows["lines"]))
        targets = written.filter(pc.is_valid(written["index"]))
        for target in targets.group_by(["index", "ignores_schema"]).aggregate([]).to_pylist():
            if is_stream(self._config):
                self._indices.fit_stream(target["index"])
                continue
            self._indices.fit(
                target["index"], batch.shape.value, ignores_schema=target["ignores_schema"]
            )
        refused = [*_refused(rows.filter(pc.is_valid(rows["refused"]))), *self._bulk.write(written)]
        self._tell(refused)
        batch.refused.extend(refused)

    def moved_to(self, positions: Mapping[TopicPartition, int]) -> None:
        """Do nothing: documents tell by their versions what was written."""

    def close(self) -> None:
        """Close the connections."""
        self._cluster.close()
        self._bulk.close()

    def _tell(self, refused: Sequence[RefusedRecord]) -> None:
        if choice(self._config, "behavior.on.malformed.documents") == "ignore":
            return
        for each in refused[:_MOST_LOGGED]:
            _LOGGER.warning("connector %s leaves out %s [%d] offset %d: %s", self._name, *each)
        if len(refused) > _MOST_LOGGED:
            more = len(refused) - _MOST_LOGGED
            _LOGGER.warning("connector %s leaves out %d more", self._name, more)


def _refused(rows: pa.Table) -> list[RefusedRecord]:
    columns = rows.select(["_topic", "_partition", "_offset", "refused"])
    return [RefusedRecord(*row.values()) for row in columns.to_pylist()]
