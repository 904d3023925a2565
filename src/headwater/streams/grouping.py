"""Puts one operator in the place of the processors that share stores."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headwater.plan.errors import PlanError
from headwater.plan.expressions.expressions import Cast, Column, Literal, StructOf
from headwater.plan.graph import walk
from headwater.plan.nodes import Filter, Map, Merge, Process, StoreSink, Table
from headwater.plan.processing.processor_group import (
    TIMERS,
    Member,
    ProcessorGroup,
    input_field,
    output_field,
)
from headwater.plan.rows import RowType
from headwater.plan.schemas.types import INT, Struct
from headwater.stores.errors import UnsupportedKeyError
from headwater.stores.keys import check_key_type
from headwater.stores.table import FollowedTable, Side
from headwater.streams.formats import written_format
from headwater.streams.operands import as_expression

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.plan.expressions.expressions import Expression
    from headwater.plan.nodes import Operator, Sink
    from headwater.plan.processing.processor import StateStore
    from headwater.plan.schemas.types import DataType
    from headwater.streams.processor_groups import Group

_VALUE = ("record", "value")


class Grouping:
    """Puts the one operator of each group in the place of its processors."""

    def __init__(self, app: str, groups: Sequence[Group], sinks: Sequence[Sink]) -> None:
        self._app = app
        self._groups = groups
        self._sinks = sinks
        self._group_of = {id(member): group for group in groups for member in group.members}
        self._nodes = self._reached()
        self._made: dict[int, Operator] = {}
        self._told: list[Sink] = []

    def sinks(self) -> tuple[Sink, ...]:
        """Return all that the program writes, the changes of stores as well."""
        waiting = self._nodes
        while waiting:
            left = [node for node in waiting if not self._make(node)]
            if len(left) == len(waiting):
                raise self._circle(left)
            waiting = left
        return (*(self._made[id(sink)] for sink in self._sinks), *self._told)  # type: ignore[arg-type]

    def _reached(self) -> list[Operator]:
        """Return all that the sinks need: of a group, also what only changes a store."""
        ends: list[Operator] = [*self._sinks]
        ends += [each for group in self._groups if _tells(group) for each in group.members]
        while True:
            nodes = [*walk(ends)]
            there = {id(node) for node in nodes}
            more = [
                each
                for group in self._groups
                if any(id(member) in there for member in group.members)
                for each in group.members
                if id(each) not in there
            ]
            if not more:
                return nodes
            ends += more

    def _make(self, node: Operator) -> bool:
        if id(node) in self._made:
            return True
        group = self._group_of.get(id(node))
        needed = node.parents if group is None else group.inputs
        if any(id(parent) not in self._made for parent in needed):
            return False
        if group is not None:
            self._make_group(group)
            return True
        parents = tuple(self._made[id(parent)] for parent in node.parents)
        same = all(a is b for a, b in zip(parents, node.parents, strict=True))
        self._made[id(node)] = node if same else replace(node, parents=parents)
        return True

    def _circle(self, left: Sequence[Operator]) -> PlanError:
        node = next(each for each in left if id(each) in self._group_of)
        stores = ", ".join(repr(store.name) for store in self._group_of[id(node)].stores)
        return PlanError(
            f"{node.id} shares {stores} with processors that take what comes of it by way of other "
            "operators: let them take it from a topic",
            node.location,
        )

    def _make_group(self, group: Group) -> None:
        first = group.members[0]
        told = [store for store in group.stores if store.look_ups]
        if len(group.members) == 1 and not told:
            alone = replace(
                first,
                parents=(self._made[id(first.parents[0])],),
                stores=(*group.stores, *first.stores),
            )
            self._made[id(first)] = alone
            return
        read = [number for number, each in enumerate(group.members) if self._is_read(each)]
        members = tuple(
            Member(
                member.supplier, member.location, member.keeps_key, member.key_class,
                member.value_class, tuple(group.takes[number]), tuple(group.children[number]),
                read.index(number) if number in read else None,
            )
            for number, member in enumerate(group.members)
        )  # fmt: skip
        changes = tuple((store.name, len(read) + number) for number, store in enumerate(told))
        own = [store for member in group.members for store in member.stores]
        rows = [group.members[number].row for number in read]
        types: list[DataType] = [Struct.of(key=row.key, value=row.value) for row in rows]
        types += [Struct.of(value=store.looked_up) for store in told]
        outputs = {output_field(number): type_ for number, type_ in enumerate(types)}
        together = Process(
            id=f"KSTREAM-PROCESSORS-{first.id.rpartition('-')[2]}",
            parents=(self._merged(group),),
            row=RowType(group.key, Struct.of(output=INT, **outputs)),
            location=first.location,
            name=f"{group.name}-processors",
            supplier=ProcessorGroup(members, changes, group.updaters),
            stores=(*group.stores, *own, *((TIMERS,) if len(members) > 1 else ())),
            keeps_key=True,
            punctuation_type=first.punctuation_type,
        )
        for number in read:
            member = group.members[number]
            self._made[id(member)] = _output(together, read.index(number), member)
        for member in group.members:
            self._made.setdefault(id(member), together)
        for name, output in changes:
            store = next(each for each in told if each.name == name)
            self._told.append(_store_sink(self._app, together, group.key, store, output))

    def _is_read(self, member: Process) -> bool:
        """Tell whether anything but its group takes what a member forwards."""
        group = self._group_of[id(member)]
        return any(
            self._group_of.get(id(reader)) is not group
            and not (
                isinstance(reader, Merge)
                and all(self._group_of.get(id(each)) is group for each in self._readers(reader))
            )
            for reader in self._readers(member)
        )

    def _readers(self, of: Operator) -> list[Operator]:
        return [node for node in self._nodes if any(parent is of for parent in node.parents)]

    def _merged(self, group: Group) -> Operator:
        inputs = [self._made[id(each)] for each in group.inputs]
        value = Struct.of(
            input=INT,
            **{input_field(number): each.row.value for number, each in enumerate(inputs)},
        )
        first, rows = group.members[0], []
        for number, each in enumerate(inputs):
            fields: list[tuple[str, Expression]] = [("input", Literal(number))]
            for other, of in enumerate(inputs):
                mine = Column(_VALUE) if other == number else Cast(Literal(None), of.row.value)
                fields.append((input_field(other), mine))
            rows.append(
                Map(
                    id=f"{first.id}-INPUT-{number}", parents=(each,),
                    row=replace(each.row, key=group.key, value=value), location=first.location,
                    value=StructOf(tuple(fields)),
                )
            )  # fmt: skip
        if len(rows) == 1:
            return rows[0]
        has_position = all(each.row.has_position for each in rows)
        return Merge(
            id=f"{first.id}-MERGE", parents=tuple(rows), location=first.location,
            row=RowType(group.key, value, has_position),
        )  # fmt: skip


def _tells(group: Group) -> bool:
    return any(store.look_ups for store in group.stores)


def _output(together: Process, output: int, member: Process) -> Operator:
    """Return what one of the processors forwards."""
    kept = _only(together, output, member.id)
    of = (*_VALUE, output_field(output))
    key = None if member.keeps_key else Column((*of, "key"))
    return Map(
        id=member.id, parents=(kept,), row=member.row, location=member.location,
        key=key, value=Column((*of, "value")), name=member.name,
    )  # fmt: skip


def _store_sink(
    app: str, together: Process, key: DataType, store: StateStore, output: int
) -> StoreSink:
    """Return what writes the changes of a store."""
    row = RowType(key, store.looked_up)
    location, id_ = together.location, f"{together.id}-STORE-{store.name}"
    kept = _only(together, output, id_)
    value = Column((*_VALUE, output_field(output), "value"))
    changes = Map(id=id_, parents=(kept,), row=row, location=location, value=value)
    table_id = f"KTABLE-STORE-{store.name}-{together.id.rpartition('-')[2]}"
    table = Table(id=table_id, parents=(changes,), row=row, location=location)
    followed = followed_store(app, key, store)
    assert followed.batches is not None, "it is a store of a program"
    return StoreSink(
        id=f"{id_}-SINK", parents=(table,), row=row, location=location, topic=followed.topic,
        store=store.name, batches=followed.batches, key_format=followed.key.format,
        value_format=followed.value.format,
    )  # fmt: skip


def _only(together: Process, output: int, id_: str) -> Filter:
    return Filter(
        id=f"{id_}-FILTER", parents=(together,), row=together.row, location=together.location,
        predicate=as_expression(f"record.value.output = {output}"),
    )  # fmt: skip


def followed_store(app: str, key: DataType, store: StateStore) -> FollowedTable:
    """Return what look-ups have to know of a store."""
    try:
        check_key_type(key)
    except UnsupportedKeyError as refusal:
        raise PlanError(f"the store {store.name!r}: {refusal}") from None
    sides = (
        Side(written_format(None, key, "key", None), key),
        Side(written_format(None, store.looked_up, "value", None), store.looked_up),
    )
    return FollowedTable(
        store.name, f"{app}-{store.name}-changelog", *sides, batches=f"{app}-batches"
    )
