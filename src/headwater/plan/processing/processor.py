"""What a user's processor is and is given: records, named state stores, timers.

The classes here say what there is; whoever runs a plan has stores and contexts of its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from headwater.plan.schemas.types import Array, Map

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime, timedelta

    from headwater.plan.schemas.types import DataType


class PunctuationType(Enum):
    """By which clock a processor's timers go, as Kafka Streams has it."""

    STREAM_TIME = "stream time"
    """That of the records."""

    WALL_CLOCK_TIME = "wall-clock time"
    """That of the machine, also while there are no records."""


@dataclass(frozen=True)
class Record:
    """A record as a processor gets it: structs are dicts, or the dataclasses that declared them."""

    key: Any
    value: Any
    timestamp: datetime
    headers: tuple[tuple[str, bytes | None], ...] = ()


@dataclass(frozen=True)
class StateStore:
    """A store that a processor has asked for; a map has a type for its keys, too."""

    name: str
    kind: Literal["value", "list", "map"]
    value: DataType
    key: DataType | None = None
    ttl_ms: int | None = None
    look_ups: bool = False
    """Whether its changes are written to a topic, which look-ups follow."""

    @property
    def looked_up(self) -> DataType:
        """What a look-up gives for a key: the value, or the whole list or map."""
        if self.kind == "list":
            return Array(self.value)
        return self.value if self.key is None else Map(self.key, self.value)

    def __str__(self) -> str:
        keys = "" if self.key is None else f"{self.key.ddl()} to "
        kept = "" if self.ttl_ms is None else f" for {self.ttl_ms} ms"
        return f"{self.name} ({self.kind} of {keys}{self.value.ddl()}{kept})"


class ValueStore(ABC):
    """One value for the key at hand."""

    @abstractmethod
    def get(self) -> Any:
        """Return the value, or None where there is none."""

    @abstractmethod
    def put(self, value: Any) -> None:
        """Set the value."""

    @abstractmethod
    def delete(self) -> None:
        """Forget the value."""


class ListStore(ABC):
    """Values in their order for the key at hand."""

    @abstractmethod
    def all(self) -> list[Any]:
        """Return the values."""

    @abstractmethod
    def append(self, value: Any) -> None:
        """Add a value at the end."""

    @abstractmethod
    def put(self, values: Sequence[Any]) -> None:
        """Set all values."""

    @abstractmethod
    def delete(self) -> None:
        """Forget all values."""


class MapStore(ABC):
    """Values by a key of their own, for the key at hand."""

    @abstractmethod
    def get(self, key: Any) -> Any:
        """Return the value of a key, or None where there is none."""

    @abstractmethod
    def put(self, key: Any, value: Any) -> None:
        """Set the value of a key."""

    @abstractmethod
    def delete(self, key: Any) -> None:
        """Forget a key."""

    @abstractmethod
    def items(self) -> Iterator[tuple[Any, Any]]:
        """Yield all keys with their values, in no order."""


class ProcessorContext(ABC):
    """What a processor is given in `init`: stores are asked for there, all else while it runs."""

    @abstractmethod
    def value_store(
        self, name: str, type_: Any, *, ttl: str | timedelta | None = None
    ) -> ValueStore:
        """Return the store of this name, with one value for each key of the records.

        With `ttl` a value is forgotten when so much time has passed since it was set, by the clock
        of the processor's timers.
        """

    @abstractmethod
    def list_store(self, name: str, type_: Any, *, ttl: str | timedelta | None = None) -> ListStore:
        """Return the store of this name, with a list for each key of the records."""

    @abstractmethod
    def map_store(
        self, name: str, key: Any, value: Any, *, ttl: str | timedelta | None = None
    ) -> MapStore:
        """Return the store of this name, with a map for each key of the records."""

    @abstractmethod
    def state_store(self, name: str) -> Any:
        """Return a store that was added to the program, and that others may ask for, too."""

    @abstractmethod
    def forward(self, value: Any, *, key: Any = ..., timestamp: datetime | None = None) -> None:
        """Send a record on; its key, timestamp and headers are those at hand, unless given."""

    @abstractmethod
    def schedule(self, at: datetime) -> None:
        """Have `punctuate` called for the key at hand when it is so late by the timers' clock."""

    @property
    @abstractmethod
    def stream_time(self) -> datetime:
        """The latest time that is known: of the key's records, and of all in batches before.

        A processor by the wall clock knows that of the record at hand alone.
        """

    @property
    @abstractmethod
    def system_time(self) -> datetime:
        """The wall-clock time of a processor whose timers go by it: when the batch began."""


class Processor(ABC):
    """Takes records one by one, in the order of their arrival, with state for each key.

    >>> class Alternating(Processor):
    ...     def init(self, context):
    ...         super().init(context)
    ...         self.seen = context.value_store("seen", "bigint")
    ...
    ...     def process(self, record):
    ...         seen = (self.seen.get() or 0) + 1
    ...         self.seen.put(seen)
    ...         if seen % 2:
    ...             self.context.forward(record.value)
    """

    punctuation_type: ClassVar[PunctuationType] = PunctuationType.STREAM_TIME
    """The clock of its timers, and of its stores' time to live."""

    def init(self, context: ProcessorContext) -> None:
        """Ask for stores and keep the context; it is called while the program is built, too."""
        self.context = context

    @abstractmethod
    def process(self, record: Record) -> None:
        """Take a record."""

    def punctuate(self, key: Any, at: datetime) -> None:
        """Take a timer that was scheduled, with the key for which it was."""
        raise NotImplementedError(f"{type(self).__name__} schedules timers and has no punctuate")

    def close(self) -> None:  # noqa: B027 - most have nothing to give back
        """Give back what was opened in `init`."""
