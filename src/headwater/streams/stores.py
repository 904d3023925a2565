"""Which topic the store of a table follows: the table's own, or one that is written for it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headwater.plan.errors import PlanError
from headwater.plan.expressions.expressions import Column, StructOf
from headwater.plan.expressions.scope import Scope
from headwater.plan.nodes import Map, Stateful, StoreSink, TopicSource
from headwater.plan.schemas.types import WINDOW_FIELDS
from headwater.stores.errors import UnsupportedKeyError
from headwater.stores.keys import check_key_type
from headwater.stores.table import FollowedTable, Side
from headwater.streams.formats import written_format
from headwater.streams.state_stores import check_store_name

if TYPE_CHECKING:
    from headwater.plan.nodes import Operator
    from headwater.streams.builder import Builder


def add_store(builder: Builder, node: Operator, name: str, location: str) -> None:
    """Keep a table in a store of this name: nothing is written where it is a topic already."""
    check_store_name(name)
    try:
        check_key_type(node.row.key)
    except UnsupportedKeyError as refusal:
        raise PlanError(str(refusal)) from None
    if isinstance(node, TopicSource):
        sides = Side(node.key_format, node.row.key), Side(node.value_format, node.row.value)
        builder.add_store(FollowedTable(name, node.topics[0], *sides), location)
        return
    windowed = node.row.windowed
    if windowed:
        node = _with_windows_in_keys(builder, node, location)
    row = node.row
    sides = (
        Side(written_format(None, row.key, "key", None), row.key),
        Side(written_format(None, row.value, "value", None), row.value),
    )
    topic = f"{builder.app_name}-{name}-changelog"
    batches = f"{builder.app_name}-batches"
    builder.add_store(FollowedTable(name, topic, *sides, windowed, batches), location)
    sink = builder.add(
        StoreSink, "KTABLE-STORE", (node,), node.row, location, topic=topic, store=name,
        batches=batches, key_format=sides[0].format, value_format=sides[1].format,
    )  # fmt: skip
    builder.add_sink(sink)


def _with_windows_in_keys(builder: Builder, node: Operator, location: str) -> Operator:
    """A topic keeps the last value of each key, and a windowed table has one for each window."""
    above = node
    while not isinstance(above, Stateful | TopicSource) and above.parents:
        if above.id.startswith("KTABLE-FILTER"):
            raise PlanError(
                f"a row that the filter at {above.location} deletes says no longer of which window "
                "it was: store the table before the filter"
            )
        above = above.parents[0]
    names = [field.name for field in WINDOW_FIELDS]
    parts = {"key": Column(("record", "key")), **{each: Column(("value", each)) for each in names}}
    key = StructOf(tuple(parts.items()))
    row = replace(node.row, key=key.type_in(Scope.of_record(node.row)), has_position=False)
    return builder.add(Map, "KTABLE-WINDOWEDKEY", (node,), row, location, key=key)
