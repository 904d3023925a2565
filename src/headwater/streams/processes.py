"""Builds processors: what they ask for is found out when the program is built."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from headwater.plan.errors import PlanError
from headwater.plan.expressions.python_function import name_of
from headwater.plan.nodes import Process
from headwater.plan.processing.processor import (
    Processor,
    ProcessorContext,
    PunctuationType,
    StateStore,
)
from headwater.plan.rows import RowType
from headwater.streams.operands import Classes
from headwater.streams.state_stores import described
from headwater.streams.types import as_class, as_type

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from typing import Literal

    from headwater.plan.nodes import Operator
    from headwater.plan.windows import Duration
    from headwater.streams.builder import Builder
    from headwater.streams.kstream import KStream
    from headwater.streams.types import TypeLike


def add_process(
    builder: Builder,
    parent: Operator,
    classes: Classes,
    supplier: Callable[[], Processor],
    returns: tuple[TypeLike, TypeLike] | TypeLike,
    name: str | None,
    location: str,
    *,
    keeps_key: bool,
) -> KStream:
    """Add a processor, with the stores that its `init` asks for."""
    from headwater.streams.kstream import KStream

    stores, shares, punctuation_type = _asked_for(supplier)
    if keeps_key:
        row = replace(parent.row, value=as_type(returns), has_position=False)
        made = Classes(classes.key, as_class(returns))
    else:
        if not isinstance(returns, tuple) or len(returns) != 2:
            raise PlanError(
                f"{name_of(supplier)} forwards keys and values: give their types, as "
                'returns=("string", "id string, value double")'
            )
        row = RowType(as_type(returns[0]), as_type(returns[1]))
        made = Classes(as_class(returns[0]), as_class(returns[1]))
    kind = "KSTREAM-TRANSFORMVALUES" if keeps_key else "KSTREAM-PROCESSOR"
    node = builder.add(
        Process, kind, (parent,), row, location, supplier=supplier, stores=stores, shares=shares,
        keeps_key=keeps_key, key_class=classes.key, value_class=classes.value, name=name,
        punctuation_type=punctuation_type,
    )  # fmt: skip
    builder.shared.add_process(node)
    return KStream(builder, node, made)


def _asked_for(
    supplier: Callable[[], Processor],
) -> tuple[tuple[StateStore, ...], tuple[str, ...], PunctuationType]:
    if not callable(supplier) or isinstance(supplier, Processor):
        raise PlanError(
            f"{supplier!r}: give the processor's class, or a function that makes one, since each "
            "task has its own"
        )
    processor = supplier()
    if not isinstance(processor, Processor):
        raise PlanError(f"{name_of(supplier)} makes no Processor: {processor!r}")
    context = _Asked()
    processor.init(context)
    processor.close()
    if not isinstance(processor.punctuation_type, PunctuationType):
        raise PlanError(
            f"{name_of(supplier)} has punctuation_type={processor.punctuation_type!r}: say "
            "PunctuationType.STREAM_TIME or PunctuationType.WALL_CLOCK_TIME"
        )
    stores, shares = tuple(context.stores.values()), tuple(dict.fromkeys(context.shares))
    return stores, shares, processor.punctuation_type


class _Asked(ProcessorContext):
    """Takes down which stores there are to be."""

    def __init__(self) -> None:
        self.stores: dict[str, StateStore] = {}
        self.shares: list[str] = []

    def value_store(self, name: str, type_: TypeLike, *, ttl: Duration | None = None) -> Any:
        return self._add(name, "value", type_, None, ttl)

    def list_store(self, name: str, type_: TypeLike, *, ttl: Duration | None = None) -> Any:
        return self._add(name, "list", type_, None, ttl)

    def map_store(
        self, name: str, key: TypeLike, value: TypeLike, *, ttl: Duration | None = None
    ) -> Any:
        return self._add(name, "map", value, key, ttl)

    def state_store(self, name: str) -> Any:
        self.shares.append(name)

    def forward(self, value: Any, *, key: Any = ..., timestamp: datetime | None = None) -> None:
        del value, key, timestamp
        raise PlanError("init has no record yet: forward in process or punctuate")

    def schedule(self, at: datetime) -> None:
        raise PlanError(f"init has no key yet: schedule({at}) in process or punctuate")

    @property
    def stream_time(self) -> datetime:
        raise PlanError("init has no time yet: look at stream_time in process or punctuate")

    @property
    def system_time(self) -> datetime:
        raise PlanError("init has no time yet: look at system_time in process or punctuate")

    def _add(
        self,
        name: str,
        kind: Literal["value", "list", "map"],
        value: TypeLike,
        key: TypeLike | None,
        ttl: Duration | None,
    ) -> None:
        if name in self.stores:
            raise PlanError(f"there is a store {name!r} already: name another")
        self.stores[name] = described(name, kind, value, key, ttl)
