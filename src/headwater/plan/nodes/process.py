"""A user's processor, which keeps state of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.plan.expressions.python_function import name_of
from headwater.plan.nodes.node import ChangelogMode
from headwater.plan.nodes.stateful import Stateful
from headwater.plan.processing.processor import PunctuationType
from headwater.plan.processing.processor_group import ProcessorGroup

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.plan.processing.processor import Processor, StateStore


@dataclass(frozen=True, eq=False, kw_only=True)
class Process(Stateful):
    """Gives each record to a processor, and takes on what that forwards.

    `supplier` makes one, `stores` is what it asks for, and `shares` the names of stores that were
    added to the program. With `keeps_key` it cannot give records another key. The classes are those
    that declared keys and values.
    """

    supplier: Callable[[], Processor]
    stores: tuple[StateStore, ...] = ()
    shares: tuple[str, ...] = ()
    keeps_key: bool = False
    key_class: type | None = None
    value_class: type | None = None
    punctuation_type: PunctuationType = PunctuationType.STREAM_TIME

    @property
    def processor_name(self) -> str:
        """The name of the class, or of the function that makes one."""
        if isinstance(self.supplier, ProcessorGroup):
            return ", ".join(name_of(each.supplier) for each in self.supplier.members)
        return name_of(self.supplier)

    @property
    def has_inputs(self) -> bool:
        """Whether records say by a number which of several inputs they are from."""
        return isinstance(self.supplier, ProcessorGroup)

    @property
    def changelog(self) -> ChangelogMode:
        """What a processor forwards stands by itself."""
        return ChangelogMode.APPEND

    def accepts(self, mode: ChangelogMode, parent: int) -> bool:
        """Take a stream."""
        del parent
        return mode is ChangelogMode.APPEND

    @property
    def changes_key(self) -> bool:
        """Unless it may not."""
        return not self.keeps_key

    @property
    def word(self) -> str:
        """What it does."""
        return "process"

    @property
    def in_arrival_order(self) -> bool:
        """Record by record."""
        return True

    @property
    def waits(self) -> bool:
        """What is forwarded leaves at once."""
        return False

    @property
    def can_be_followed(self) -> bool:
        """Spark has no order for what comes of timers."""
        return False

    @property
    def has_own_clock(self) -> bool:
        """Spark has one time for all that is in a query."""
        return self.punctuation_type is PunctuationType.WALL_CLOCK_TIME

    @property
    def has_watermark(self) -> bool:
        """Timers are in event time, and the clock on the wall is taken for that."""
        return True

    @property
    def regroups(self) -> bool:
        """State is kept by the record's key."""
        return False
