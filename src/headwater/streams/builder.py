"""Makes the operators of one program: numbers them, and collects the sinks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from headwater.plan.errors import PlanError
from headwater.plan.nodes import Operator, TopicSource
from headwater.streams.names import NAMES_THE_OPERATOR
from headwater.streams.shared_stores import SharedStores

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.plan.nodes import Emit, Sink
    from headwater.plan.rows import RowType
    from headwater.serde import SchemaRegistryClient
    from headwater.stores.table import FollowedTable

AnyOperator = TypeVar("AnyOperator", bound=Operator)


class Builder:
    """What the streams and tables of one app share."""

    def __init__(
        self, app_name: str, emit: Emit, registry: Callable[[], SchemaRegistryClient]
    ) -> None:
        self.app_name = app_name
        self.emit = emit
        self.registry = registry
        self.sinks: list[Sink] = []
        self.stores: dict[str, FollowedTable] = {}
        self.shared = SharedStores(app_name)
        self._stored_at: dict[str, str] = {}
        self._count = 0

    def add(
        self,
        class_: type[AnyOperator],
        kind: str,
        parents: tuple[Operator, ...],
        row: RowType,
        location: str,
        /,
        **fields: Any,
    ) -> AnyOperator:
        """Make an operator and give it the next number, as Kafka Streams does."""
        name = fields.get("name")
        if name is not None and not isinstance(name, str):
            raise PlanError(f"name={name}: {NAMES_THE_OPERATOR}")
        node_id = f"{kind}-{self._count:010d}"
        self._count += 1
        return class_(id=node_id, parents=parents, row=row, location=location, **fields)

    def add_sink(self, sink: Sink) -> None:
        """Keep what the program writes; everything else is reached from there."""
        self.sinks.append(sink)

    def add_store(self, table: FollowedTable, location: str) -> None:
        """Keep what a store has to know of its table; refuse a second store of the same name."""
        other = self._stored_at.setdefault(table.name, location)
        if table.name in self.stores:
            raise PlanError(f"the store {table.name!r} is written at {other} already: name another")
        self.stores[table.name] = table


def topic_above(node: Operator) -> TopicSource | None:
    """Return the first source above an operator, if that is a topic."""
    while node.parents:
        node = node.parents[0]
    return node if isinstance(node, TopicSource) else None
