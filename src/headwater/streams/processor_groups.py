"""Processors that share stores: what they take, and from whom; and why they could not be one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.plan.errors import PlanError
from headwater.plan.graph import walk
from headwater.plan.nodes import Merge

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.plan.nodes import Operator, Process
    from headwater.plan.processing.processor import StateStore


class Group:
    """Processors that share stores, directly or by way of others."""

    def __init__(
        self,
        members: tuple[Process, ...],
        stores: tuple[StateStore, ...],
        updaters: Mapping[str, Process],
    ) -> None:
        self.members = members
        self.stores = stores
        self.updaters = tuple(
            (store.name, members.index(updaters[store.name]))
            for store in stores
            if store.name in updaters
        )
        """Stores that a topic fills, and the number of the member that does it."""
        self.key = members[0].parents[0].row.key
        self.name = "-".join(store.name for store in stores)
        self.inputs: list[Operator] = []
        self.takes: list[list[int]] = []
        self.children: list[list[int]] = [[] for _ in members]
        for number, member in enumerate(members):
            self.takes.append([])
            self._connect(number, member.parents[0])
        self._check()

    def _connect(self, number: int, parent: Operator) -> None:
        """Take what another member forwards from that one, and all else as an input."""
        place = next((n for n, member in enumerate(self.members) if member is parent), None)
        if place is not None:
            self.children[place].append(number)
        elif isinstance(parent, Merge) and any(each in self.members for each in parent.parents):
            for each in parent.parents:
                self._connect(number, each)
        else:
            known = next((n for n, each in enumerate(self.inputs) if each is parent), None)
            if known is None:
                known = len(self.inputs)
                self.inputs.append(parent)
            self.takes[number].append(known)

    def _check(self) -> None:
        first = self.members[0]
        stores = ", ".join(repr(store.name) for store in self.stores)
        for member in self.members[1:]:
            key = member.parents[0].row.key
            if key != self.key:
                raise PlanError(
                    f"{member.processor_name} has keys of the type {key.ddl()} and shares {stores} "
                    f"with {first.processor_name} (at {first.location}), whose keys are "
                    f"{self.key.ddl()}: state is kept by key, so that both need the same",
                    member.location,
                )
            if member.punctuation_type is not first.punctuation_type:
                raise PlanError(
                    f"{member.processor_name} goes by {member.punctuation_type.value} and shares "
                    f"{stores} with {first.processor_name} (at {first.location}), which goes by "
                    f"{first.punctuation_type.value}: give both the same punctuation_type",
                    member.location,
                )
        taken = {store.name: "the program" for store in self.stores}
        for member in self.members:
            for store in member.stores:
                if store.name in taken:
                    raise PlanError(
                        f"{member.processor_name} has a store {store.name!r} of its own, and so "
                        f"has {taken[store.name]}, with which it shares {stores}: name another, "
                        "or add one for both with app.add_state_store",
                        member.location,
                    )
                taken[store.name] = member.processor_name
        for number, member in enumerate(self.members):
            for taken_input in self.takes[number]:
                for each in walk((self.inputs[taken_input],)):
                    if each in self.members:
                        raise PlanError(
                            f"{member.processor_name} shares {stores} with "
                            f"{each.processor_name} (at {each.location}) "
                            "and takes what comes of it by way of other operators, which Spark "
                            "computes elsewhere: take it directly, or from a topic",
                            member.location,
                        )
