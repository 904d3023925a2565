"""SELECT * of a windowed stream or table, which shows a client the bounds of windows too."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headwater.sql.metastore.source import WINDOW_BOUNDS
from headwater.sql.tree.expressions import Column
from headwater.sql.tree.queries import Query, SelectAll, SelectExpression, Source

if TYPE_CHECKING:
    from headwater.sql.metastore.metastore import Metastore
    from headwater.sql.tree.queries import SelectItem


def with_window_bounds(query: Query, metastore: Metastore) -> Query:
    """Return a query that stands alone with all columns of `*`, as ksqlDB orders them."""
    if not isinstance(query.source, Source):
        return query
    source = metastore.find(query.source.name)
    if source is None or not source.is_windowed:
        return query
    names = [
        *(column.name for column in source.key),
        *WINDOW_BOUNDS,
        *(column.name for column in source.columns if not column.is_key),
    ]
    listed: list[SelectItem] = []
    for item in query.select:
        if isinstance(item, SelectAll):
            listed += [SelectExpression(Column(name), name) for name in names]
        else:
            listed.append(item)
    return replace(query, select=tuple(listed))
