"""Programs wired by hand: sources, processors and sinks by name, as Kafka Streams' Topology."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.plan.errors import PlanError
from headwater.streams.hints import Hints
from headwater.streams.location import Located

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.plan.processing.processor import Processor, StateStore
    from headwater.streams.app import App
    from headwater.streams.kstream import KStream
    from headwater.streams.types import TypeLike


class Topology(Hints):
    """Sources, processors and sinks, each with a name by which others take it for a parent.

    >>> from headwater.streams import App, Processor
    >>> class Upper(Processor):
    ...     def process(self, record):
    ...         self.context.forward(record.value.upper())
    >>> topology = App("shout").topology()
    >>> topology.add_source("words", "words", value="string")
    >>> topology.add_processor("upper", Upper, "words", returns=("string", "string"))
    >>> topology.add_sink("shouts", "shouts", "upper", value="string")
    """

    def __init__(self, app: App) -> None:
        self._app = app
        self._streams: dict[str, KStream] = {}

    def add_source(self, name: str, *topics: str, **options: Any) -> None:
        """Read topics; the options are those of `App.stream`."""
        with Located():
            self._add(name, self._app.stream(*topics, **options))

    def add_processor(
        self,
        name: str,
        supplier: Callable[[], Processor],
        *parents: str,
        returns: tuple[TypeLike, TypeLike],
    ) -> None:
        """Give what the parents send on to a processor; its state is kept under the name."""
        with Located():
            self._add(name, self._merged(parents).process(supplier, returns=returns, name=name))

    def add_state_store(self, store: StateStore, *, look_ups: bool = False) -> None:
        """Add a store for the processors that ask for it, as `App.add_state_store` does."""
        with Located():
            self._app.add_state_store(store, look_ups=look_ups)

    def add_sink(self, name: str, topic: str, *parents: str, **options: Any) -> None:
        """Write what the parents send on to a topic; the options are those of `KStream.to`."""
        with Located():
            if name in self._streams:
                raise PlanError(f"there is {name!r} already: names are unique in a topology")
            self._merged(parents).to(topic, **options)

    def _merged(self, parents: tuple[str, ...]) -> KStream:
        if not parents:
            raise PlanError("name the parents whose records it is to get")
        for parent in parents:
            if parent not in self._streams:
                known = ", ".join(self._streams) or "none yet"
                raise PlanError(f"there is no source or processor {parent!r} (there are {known})")
        first, *others = (self._streams[parent] for parent in parents)
        return first.merge(*others) if others else first

    def _add(self, name: str, stream: KStream) -> None:
        if name in self._streams:
            raise PlanError(f"there is {name!r} already: names are unique in a topology")
        self._streams[name] = stream
