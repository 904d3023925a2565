"""Processors that share stores, as one: each record goes to those of them that take it.

A record says by its `input` which of the inputs it is from, and has its value in the field of that;
what is forwarded says likewise which `output` it is. So one operator, with one state by key, does
the work of all.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from headwater.plan.expressions.python_function import instance_of, name_of, plain
from headwater.plan.processing.processor import (
    ListStore,
    MapStore,
    Processor,
    ProcessorContext,
    Record,
    StateStore,
    ValueStore,
)
from headwater.plan.schemas.types import BOOLEAN, STRING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

TIMERS = StateStore("headwater-timers", "map", BOOLEAN, STRING)
"""Whose a timer is, where there are several who set them: Spark knows them by their times."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def input_field(number: int) -> str:
    """Return the field in which records of an input have their values."""
    return f"value_{number}"


def output_field(number: int) -> str:
    """Return the field of an output: key and value of what a processor forwards, or a change."""
    return f"out_{number}"


@dataclass(frozen=True)
class Member:
    """A processor of the group.

    `inputs` are the numbers of those that it takes, `children` the members that take what it
    forwards; `output` is the number under which others do, if they do.
    """

    supplier: Callable[[], Processor]
    location: str
    keeps_key: bool = False
    key_class: type | None = None
    value_class: type | None = None
    inputs: tuple[int, ...] = ()
    children: tuple[int, ...] = ()
    output: int | None = None


@dataclass(frozen=True)
class ProcessorGroup:
    """Makes the one processor that several are; `told` are stores and the outputs of changes.

    `updaters` are the stores that a topic fills, and the number of the member that does it.
    """

    members: tuple[Member, ...]
    told: tuple[tuple[str, int], ...] = ()
    updaters: tuple[tuple[str, int], ...] = ()

    def __call__(self) -> Processor:
        """Return the processor."""
        return _Together(self)

    @property
    def outputs(self) -> int:
        """How many outputs there are."""
        return sum(member.output is not None for member in self.members) + len(self.told)

    @property
    def classes(self) -> tuple[Any, ...]:
        """What of the user's program has to be where the group runs."""
        return tuple(
            each
            for member in self.members
            for each in (member.supplier, member.key_class, member.value_class)
        )


class _Together(Processor):
    def __init__(self, group: ProcessorGroup) -> None:
        self.group = group
        self._processors = [member.supplier() for member in group.members]
        self._timers: Any = None
        self._at_hand: Record | None = None

    @property
    def at_hand(self) -> Record:
        """The record that is processed, or the key and the time of a timer."""
        assert self._at_hand is not None, "init has no record, and is told so while it is planned"
        return self._at_hand

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        if len(self._processors) > 1:
            self._timers = context.state_store(TIMERS.name)
        for number, processor in enumerate(self._processors):
            processor.init(_MemberContext(self, number))

    def process(self, record: Record) -> None:
        number = record.value["input"]
        value = record.value[input_field(number)]
        for place, member in enumerate(self.group.members):
            if number in member.inputs:
                self.give(place, Record(record.key, value, record.timestamp, record.headers))

    def give(self, place: int, record: Record) -> None:
        """Let a member process a record, whose key and value are plain."""
        member, before = self.group.members[place], self._at_hand
        self._at_hand = record
        self._processors[place].process(
            Record(
                instance_of(member.key_class, record.key),
                instance_of(member.value_class, record.value),
                record.timestamp,
                record.headers,
            )
        )
        # One that was given a record by another: that one goes on with its own.
        self._at_hand = before

    def schedule(self, place: int, at: datetime) -> None:
        """Set a timer of a member's."""
        if self._timers is not None:
            self._timers.put(_timer(place, at), True)
        self.context.schedule(at)

    def punctuate(self, key: Any, at: datetime) -> None:
        for place, processor in enumerate(self._processors):
            if self._timers is not None:
                if self._timers.get(_timer(place, at)) is None:
                    continue
                self._timers.delete(_timer(place, at))
            self._at_hand = Record(key, None, at)
            processor.punctuate(instance_of(self.group.members[place].key_class, key), at)

    def send(self, output: int, value: Any, timestamp: datetime) -> None:
        """Forward something as an output."""
        fields = {output_field(number): None for number in range(self.group.outputs)}
        self.context.forward(
            {"output": output, **fields, output_field(output): value}, timestamp=timestamp
        )

    def tell(self, output: int, value: Any) -> None:
        """Forward what a store has now."""
        self.send(output, {"value": value}, self.at_hand.timestamp)

    def close(self) -> None:
        for processor in self._processors:
            processor.close()


class _MemberContext(ProcessorContext):
    """What one of the processors sees."""

    def __init__(self, together: _Together, place: int) -> None:
        self._together = together
        self._place = place
        self._member = together.group.members[place]

    def value_store(self, name: str, type_: Any, *, ttl: Any = None) -> Any:
        return self._together.context.value_store(name, type_, ttl=ttl)

    def list_store(self, name: str, type_: Any, *, ttl: Any = None) -> Any:
        return self._together.context.list_store(name, type_, ttl=ttl)

    def map_store(self, name: str, key: Any, value: Any, *, ttl: Any = None) -> Any:
        return self._together.context.map_store(name, key, value, ttl=ttl)

    def state_store(self, name: str) -> Any:
        store = self._together.context.state_store(name)
        if dict(self._together.group.updaters).get(name, self._place) != self._place:
            return _ReadOnlyStore(name, store)
        output = dict(self._together.group.told).get(name)
        return store if output is None else _told(store, partial(self._together.tell, output))

    def forward(self, value: Any, *, key: Any = ..., timestamp: datetime | None = None) -> None:
        together, member, at_hand = self._together, self._member, self._together.at_hand
        if key is not ... and member.keeps_key:
            raise ValueError("transform_values keeps keys: forward with another key in process()")
        sent = Record(
            at_hand.key if key is ... else plain(key),
            plain(value),
            timestamp or at_hand.timestamp,
            at_hand.headers,
        )
        for child in member.children:
            if sent.key != at_hand.key:
                raise ValueError(
                    f"{name_of(member.supplier)} (at {member.location}) forwards the key "
                    f"{sent.key!r} for a record with {at_hand.key!r} to a processor with which it "
                    "shares a store, and the state of another key is elsewhere: let that one take "
                    "it from a topic, or forward under the record's own key"
                )
            together.give(child, sent)
        if member.output is not None:
            pair = {"key": sent.key, "value": sent.value}
            together.send(member.output, pair, sent.timestamp)

    def schedule(self, at: datetime) -> None:
        self._together.schedule(self._place, at)

    @property
    def stream_time(self) -> datetime:
        return self._together.context.stream_time

    @property
    def system_time(self) -> datetime:
        return self._together.context.system_time


class _ReadOnlyStore:
    """A store as those see it who may not change it."""

    def __init__(self, name: str, store: Any) -> None:
        self._name = name
        self._store = store

    def __getattr__(self, name: str) -> Any:
        if name in ("put", "append", "delete"):
            raise ValueError(
                f"the store {self._name!r} has what is in its topic: write there to change it"
            )
        return getattr(self._store, name)


def _told(store: Any, tell: Callable[[Any], None]) -> Any:
    """Return a store that tells of each change what it has then, for those who follow it."""
    if isinstance(store, ListStore):
        return _ToldListStore(store, tell)
    return (
        _ToldMapStore(store, tell) if isinstance(store, MapStore) else _ToldValueStore(store, tell)
    )


class _ToldValueStore(ValueStore):
    def __init__(self, store: ValueStore, tell: Callable[[Any], None]) -> None:
        self._store = store
        self._tell = tell

    def get(self) -> Any:
        return self._store.get()

    def put(self, value: Any) -> None:
        self._store.put(value)
        self._tell(plain(value))

    def delete(self) -> None:
        self._store.delete()
        self._tell(None)


class _ToldListStore(ListStore):
    def __init__(self, store: ListStore, tell: Callable[[Any], None]) -> None:
        self._store = store
        self._tell = tell

    def all(self) -> list[Any]:
        return self._store.all()

    def append(self, value: Any) -> None:
        self._store.append(value)
        self._tell(self._store.all())

    def put(self, values: Sequence[Any]) -> None:
        self._store.put(values)
        self._tell(self._store.all() or None)

    def delete(self) -> None:
        self._store.delete()
        self._tell(None)


class _ToldMapStore(MapStore):
    def __init__(self, store: MapStore, tell: Callable[[Any], None]) -> None:
        self._store = store
        self._tell = tell

    def get(self, key: Any) -> Any:
        return self._store.get(key)

    def items(self) -> Iterator[tuple[Any, Any]]:
        return self._store.items()

    def put(self, key: Any, value: Any) -> None:
        self._store.put(key, value)
        self._tell(dict(self._store.items()))

    def delete(self, key: Any) -> None:
        self._store.delete(key)
        self._tell(dict(self._store.items()) or None)


def _timer(place: int, at: datetime) -> str:
    return f"{(at - _EPOCH) // _MILLISECOND}/{place}"
