"""State stores that several processors share: these become one operator, over one key."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headwater.plan.errors import PlanError
from headwater.plan.processing.processor import StateStore
from headwater.plan.schemas.types import Primitive
from headwater.streams.grouping import Grouping, followed_store
from headwater.streams.processor_groups import Group
from headwater.streams.state_stores import check_store_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.plan.nodes import Process, Sink
    from headwater.stores.table import FollowedTable


class SharedStores:
    """The stores that were added to a program, and the processors that may ask for them."""

    def __init__(self, app: str) -> None:
        self._app = app
        self._stores: dict[str, StateStore] = {}
        self._added_at: dict[str, str] = {}
        self._processes: list[Process] = []
        self._updaters: dict[str, Process] = {}

    def add_store(self, store: StateStore, location: str, *, look_ups: bool) -> None:
        """Add a store; refuse a second one of its name, and look-ups that could not be right."""
        if not isinstance(store, StateStore):
            raise PlanError(
                f'{store!r} is no store: give value_store("name", "type"), list_store or map_store'
            )
        check_store_name(store.name)
        if store.name in self._stores:
            raise PlanError(
                f"there is a store {store.name!r} already (at {self._added_at[store.name]})"
            )
        if look_ups and store.key is not None and not isinstance(store.key, Primitive):
            raise PlanError(
                f"the store {store.name!r} has keys that are {store.key.ddl()}: look-ups are "
                "written as JSON, whose keys are text, or numbers as text"
            )
        if look_ups and store.ttl_ms is not None:
            raise PlanError(
                f"the store {store.name!r} forgets after ttl, which nobody tells those who look "
                "it up: delete what is over, by a timer"
            )
        self._stores[store.name] = replace(store, look_ups=look_ups)
        self._added_at[store.name] = location

    def add_process(self, node: Process) -> None:
        """Keep a processor: one that shares a store may have no other output."""
        self._processes.append(node)

    def add_updater(self, store: StateStore, node: Process) -> None:
        """Let nobody but this processor, which a topic feeds, change a store."""
        if store.name not in node.shares:
            raise PlanError(
                f"{node.processor_name} fills the store {store.name!r} from its topic: its init "
                f"asks for it, as context.state_store({store.name!r})"
            )
        self._updaters[store.name] = node

    def grouped(self, sinks: Sequence[Sink]) -> tuple[Sink, ...]:
        """Return the sinks over processors that are one where they share a store."""
        groups = self._groups()
        if not groups:
            return tuple(sinks)
        return Grouping(self._app, groups, sinks).sinks()

    def followed(self) -> tuple[FollowedTable, ...]:
        """Return what look-ups have to know of the stores."""
        return tuple(
            followed_store(self._app, group.key, store)
            for group in self._groups()
            for store in group.stores
            if store.look_ups
        )

    def _groups(self) -> list[Group]:
        found: list[tuple[set[str], list[Process]]] = []
        for node in self._processes:
            if not node.shares:
                continue
            self._check_known(node)
            names, members = set(node.shares), [node]
            for other in [each for each in found if each[0] & names]:
                found.remove(other)
                names, members = names | other[0], [*other[1], *members]
            found.append((names, members))
        return [
            Group(
                tuple(sorted(members, key=lambda node: node.number)),
                tuple(store for name, store in self._stores.items() if name in names),
                self._updaters,
            )
            for names, members in found
        ]

    def _check_known(self, node: Process) -> None:
        for name in node.shares:
            if name not in self._stores:
                known = ", ".join(self._stores) or "none yet"
                raise PlanError(
                    f"{node.processor_name} asks for the store {name!r}, which was not added: "
                    f"app.add_state_store(...) does it (there are {known})",
                    node.location,
                )
