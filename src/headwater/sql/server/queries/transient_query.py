"""A push query that Spark computes: its rows go through a topic of their own to the client."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from headwater.sql.analysis.outcomes import StoreQuery
from headwater.sql.metastore.formats import FORMATS, ChosenFormat
from headwater.sql.tree.expressions import StringLiteral
from headwater.sql.tree.queries import SelectExpression
from headwater.sql.tree.statements.creation import CreateAsSelect
from headwater.sql.tree.statements.properties import Property

if TYPE_CHECKING:
    from headwater.sql.analysis.query.analysed import AnalysedQuery
    from headwater.sql.server.engine import Engine
    from headwater.sql.tree.queries import Query

_JSON = ChosenFormat(FORMATS["JSON"])


@dataclass(frozen=True)
class TransientQuery:
    """A query that is stored for as long as somebody looks; `columns` are those of the result."""

    stored: StoreQuery
    columns: tuple[str, ...]


def transient_query(
    query: Query, analysed: AnalysedQuery, engine: Engine, topic: str
) -> TransientQuery:
    """Return a push query as one that is stored in a topic; raises SqlError.

    Columns get names of their own, so that it does not matter what the client calls them, and the
    key is among them, also where the client has not selected it.
    """
    selected = [
        SelectExpression(column.expression, f"C{index}")
        for index, column in enumerate(analysed.selected)
    ]
    names = tuple(f"C{index}" for index in range(len(selected)))
    given = {column.expression for column in analysed.selected}
    for index, part in enumerate(analysed.key):
        if not given & set(part.choices) and part.choices:
            selected.append(SelectExpression(part.choices[0], f"K{index}"))
    statement = CreateAsSelect(
        analysed.kind,
        "TRANSIENT",
        replace(query, select=tuple(selected), limit=None),
        (
            Property("KAFKA_TOPIC", StringLiteral(topic)),
            Property("KEY_FORMAT", StringLiteral("JSON")),
            Property("VALUE_FORMAT", StringLiteral("JSON")),
        ),
    )
    stored = engine.analyse(statement, {})
    assert isinstance(stored, StoreQuery)
    sink = replace(stored.sink, window=None, partitions=1, key_format=_JSON)
    return TransientQuery(StoreQuery(stored.query, sink, is_new=True), names)
