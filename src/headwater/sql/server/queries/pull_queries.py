"""Pull queries: the rows of a table as they are, or of a stream up to now. Spark has no part."""

from __future__ import annotations

import asyncio
import uuid
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any

from headwater.sql.analysis.scope import ColumnMeaning
from headwater.sql.errors import SqlError
from headwater.sql.metastore.source import PSEUDO_COLUMNS
from headwater.sql.server.queries.key_lookup import wanted_keys
from headwater.sql.server.queries.projection import Projection, result_columns
from headwater.sql.server.queries.query_result import QueryResult
from headwater.sql.server.queries.topic_reading import TopicReading
from headwater.sql.tree.statements.creation import SourceKind

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from headwater.serde import SchemaRegistryClient
    from headwater.sql.analysis.query.analysed import AnalysedQuery
    from headwater.sql.server.config import SqlConfig
    from headwater.sql.server.queries.table_stores import TableStores
    from headwater.sql.server.topics.processing_log import ProcessingLog

_SCANS = "ksql.query.pull.table.scan.enabled"


class PullQueries:
    """Answers pull queries."""

    def __init__(
        self,
        config: SqlConfig,
        stores: TableStores,
        registry: SchemaRegistryClient | None,
        log: ProcessingLog,
    ) -> None:
        self._config = config
        self._stores = stores
        self._registry = registry
        self._log = log

    async def start(self, query: AnalysedQuery, properties: Mapping[str, str]) -> QueryResult:
        """Return the rows that there are; raises SqlError."""
        if query.partition_by is not None or query.window is not None:
            raise SqlError("Pull queries don't support PARTITION BY and WINDOW clauses.")
        projection = Projection(query)
        query_id = f"query_{uuid.uuid4().int % 10**18}"
        if projection.source.kind is SourceKind.STREAM:
            return await self._of_stream(query, projection, query_id)
        _refuse_places(query)
        keys = wanted_keys(query.where, projection.source)
        if keys is None and properties.get(_SCANS) == "false":
            raise SqlError(
                "The WHERE clause doesn't name the whole key, and table scans are not enabled. "
                f"Set {_SCANS}=true"
            )
        rows = await asyncio.to_thread(self._look_up, projection, keys)
        return QueryResult(
            query_id, result_columns(query), _at_once(rows), is_push=False, limit=query.limit
        )

    def _look_up(
        self, projection: Projection, keys: list[dict[str, Any]] | None
    ) -> list[list[Any]]:
        store = self._stores.get(projection.source)
        found = []
        for number, row in enumerate(store.rows(projection.alias, keys)):
            if number >= self._config.max_pull_rows:
                raise SqlError(
                    f"the query looks at more than {number} rows, which ksql.query.pull.max.rows "
                    "does not allow: name keys in WHERE"
                )
            shown = projection.shown(row)
            if shown is not None:
                found.append(shown)
        return found

    async def _of_stream(
        self, query: AnalysedQuery, projection: Projection, query_id: str
    ) -> QueryResult:
        tell = partial(self._log.tell, query_id, projection.source.topic)
        records = projection.reading(self._registry, tell)
        reading = TopicReading(
            self._config.cluster, projection.source.topic, from_beginning=True, until_now=True
        )
        await reading.open()

        async def batches() -> AsyncGenerator[list[list[Any]], None]:
            async with aclosing(reading.batches()) as read:
                async for batch in read:
                    yield list(records.rows(batch))

        return QueryResult(
            query_id,
            result_columns(query),
            batches(),
            is_push=False,
            limit=query.limit,
            close=reading.close,
        )


async def _at_once(rows: list[list[Any]]) -> AsyncGenerator[list[list[Any]], None]:
    yield rows


def _refuse_places(query: AnalysedQuery) -> None:
    """Refuse what a store does not keep of a row: its time and its place in the topic."""
    expressions = [column.value for column in query.selected]
    if query.where is not None:
        expressions.append(query.where)
    for typed in expressions:
        for part in typed.walk():
            meaning = part.meaning
            if isinstance(meaning, ColumnMeaning) and meaning.name in PSEUDO_COLUMNS:
                raise SqlError(
                    f"{meaning.name} of a table's row is not kept for pull queries",
                    part.expression.location,
                )
