"""Operators that remember records or results."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from headwater.plan.nodes.node import ChangelogMode, Node, Operand
from headwater.plan.windows import Window

if TYPE_CHECKING:
    from headwater.plan.expressions.aggregations import Aggregation
    from headwater.plan.expressions.expressions import Expression
    from headwater.plan.windows import AnyWindow

JoinKind: TypeAlias = Literal["inner", "left", "outer"]
Emit: TypeAlias = Literal["batch", "record", "final"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Stateful(Node):
    """An operator that keeps state, by key."""

    @property
    @abstractmethod
    def word(self) -> str:
        """What a stage that begins here is called after. Checkpoints are found by it."""

    @property
    @abstractmethod
    def in_arrival_order(self) -> bool:
        """Whether it takes records one at a time, in the order in which they arrived."""

    @property
    @abstractmethod
    def waits(self) -> bool:
        """Whether results leave only when their time has passed, and nothing changes them."""

    @property
    @abstractmethod
    def regroups(self) -> bool:
        """Whether it brings records together by something else than their key."""

    @property
    def shuffles(self) -> int:
        """How many times records are brought to where their state is."""
        return 1

    @property
    def can_be_followed(self) -> bool:
        """Whether another operator that keeps state can take its results in the same stage.

        Of what works batch by batch, nobody could tell which results belong together.
        """
        return self.in_arrival_order and not self.waits

    @property
    def has_own_clock(self) -> bool:
        """Whether its time is not that of the records, so that it has to be alone in its stage."""
        return False

    @property
    def has_watermark(self) -> bool:
        """Whether it follows event time, which Spark lets one operator of a query do."""
        return False

    @property
    def can_be_added(self) -> bool:
        """Whether its results can be added to each other for good, as files are."""
        return True

    @property
    def brings_keys_together(self) -> bool:
        """State is kept by key."""
        return True


@dataclass(frozen=True, eq=False, kw_only=True)
class Changes(Stateful):
    """Each row of a table, with the value that it replaces beside it.

    Every row comes out, a tombstone for what was not there as well.
    """

    @property
    def changelog(self) -> ChangelogMode:
        """A table whose old values can be taken back."""
        return ChangelogMode.RETRACT

    def accepts(self, mode: ChangelogMode, parent: int) -> bool:
        """Take tables that do not have their old values yet."""
        del parent
        return mode is ChangelogMode.UPSERT

    @property
    def word(self) -> str:
        """What it makes."""
        return "changes"

    @property
    def in_arrival_order(self) -> bool:
        """What a row replaces is what came before it."""
        return True

    @property
    def waits(self) -> bool:
        """A row leaves as it comes."""
        return False

    @property
    def regroups(self) -> bool:
        """Rows are kept by their key."""
        return False


@dataclass(frozen=True, eq=False, kw_only=True)
class Aggregate(Stateful):
    """Folds the records of each group, and of each window if there is one.

    The key of the result is `by`, or the record's key where that is None. The value is a struct:
    `window_start` and `window_end` if windowed, then one field for each aggregation; or, for a
    single `reduce`, the reduced value itself (after the window's fields if windowed, when it is a
    struct). Records with a null key or a null value are skipped, as in Kafka Streams. A session
    that has become part of another comes once more, with nulls for all but the window.

    `emit` is `batch` (the last result of each group in a micro-batch), `record` (one for each
    record) or `final` (one for each window, after it has closed). Late records are counted, and
    written to `late_to` if that is a topic.
    """

    by: Operand | None
    aggregations: tuple[tuple[str, Aggregation], ...]
    window: AnyWindow | None = None
    emit: Emit = "batch"
    late_to: str | None = None

    @property
    def reduce(self) -> Aggregation | None:
        """The reduction, if this is one."""
        first = self.aggregations[0][1]
        return first if first.function == "reduce" else None

    @property
    def changelog(self) -> ChangelogMode:
        """Results replace those before them."""
        return ChangelogMode.UPSERT

    def accepts(self, mode: ChangelogMode, parent: int) -> bool:
        """Take streams."""
        del parent
        return mode is ChangelogMode.APPEND

    @property
    def topics_aside(self) -> tuple[str, ...]:
        """The topic of late records."""
        return () if self.late_to is None else (self.late_to,)

    @property
    def word(self) -> str:
        """What it does."""
        return "aggregate"

    @property
    def in_arrival_order(self) -> bool:
        """Where each record has a result, a place in the order, or is told to be late.

        Of Spark's own windows, only those of one size give results before they have closed.
        """
        if self.emit == "record" or self.late_to is not None:
            return True
        if not all(aggregation.is_native for _, aggregation in self.aggregations):
            return True
        return self.window is not None and not isinstance(self.window, Window)

    @property
    def waits(self) -> bool:
        """For its windows to close, if told so."""
        return self.emit == "final"

    @property
    def has_watermark(self) -> bool:
        """Windows close as time goes on."""
        return self.window is not None

    @property
    def regroups(self) -> bool:
        """Where the group is not the key."""
        return self.by is not None

    @property
    def can_be_added(self) -> bool:
        """Not where results replace each other for ever, batch by batch."""
        return self.window is not None or self.in_arrival_order


@dataclass(frozen=True, eq=False, kw_only=True)
class TableAggregate(Stateful):
    """Folds the rows of a table by group: a row that is replaced is first taken out of its group.

    The key of the result is `by`, over the rows of the table (its parent, with old values). The
    value is a struct with a field for each aggregation, or for a single `reduce` the reduced value;
    `undo` is then how a value is taken back. Rows whose group is null are in none.
    """

    by: Expression
    aggregations: tuple[tuple[str, Aggregation], ...]
    undo: Expression | None = None
    emit: Literal["batch", "record"] = "batch"

    @property
    def changelog(self) -> ChangelogMode:
        """Results replace those before them."""
        return ChangelogMode.UPSERT

    def accepts(self, mode: ChangelogMode, parent: int) -> bool:
        """Take a table whose rows have beside them what they replace."""
        del parent
        return mode is ChangelogMode.RETRACT

    @property
    def word(self) -> str:
        """What it does."""
        return "tableaggregate"

    @property
    def in_arrival_order(self) -> bool:
        """What is taken back was put in before."""
        return True

    @property
    def waits(self) -> bool:
        """A result leaves when it changes."""
        return False

    @property
    def regroups(self) -> bool:
        """That is what it is for."""
        return True

    @property
    def can_be_added(self) -> bool:
        """Not where results replace each other batch by batch."""
        return self.emit == "record"


@dataclass(frozen=True, eq=False, kw_only=True)
class StreamTableJoin(Stateful):
    """Each record of a stream (first parent) with the table (second) as it stands at that moment.

    `key` says what to look up: an expression over the stream's record for a global table, None
    for the record's key. `projection` is over a join scope (`left.` is the stream's value,
    `right.` the table's); the key of the result is the stream's.
    """

    kind: Literal["inner", "left"]
    key: Operand | None
    projection: Expression

    @property
    def changelog(self) -> ChangelogMode:
        """The stream's records."""
        return ChangelogMode.APPEND

    def accepts(self, mode: ChangelogMode, parent: int) -> bool:
        """Take a stream first and a table second."""
        return mode is (ChangelogMode.APPEND, ChangelogMode.UPSERT)[parent]

    @property
    def scatters_keys(self) -> bool:
        """Records go to where the table's key is, which is not where their own belongs."""
        return self.key is not None

    @property
    def word(self) -> str:
        """What is joined."""
        return "streamtablejoin"

    @property
    def in_arrival_order(self) -> bool:
        """A record meets the table as it stands when the record arrives."""
        return True

    @property
    def waits(self) -> bool:
        """A record leaves as it comes."""
        return False

    @property
    def regroups(self) -> bool:
        """Where something else than the key is looked up."""
        return self.key is not None


@dataclass(frozen=True, eq=False, kw_only=True)
class TableTableJoin(Stateful):
    """The rows of two tables by key: a row of either changes the pair, a tombstone may delete it.

    `projection` is over a join scope; where there is no pair any more, the result is a tombstone.
    `left` keeps rows of the first table that have no partner, `outer` those of both. `emit` is
    `batch` (the last result of each key in a micro-batch) or `record` (one for each row that
    changes something).
    """

    kind: JoinKind
    projection: Expression
    emit: Literal["batch", "record"] = "batch"

    @property
    def changelog(self) -> ChangelogMode:
        """Pairs replace those before them, and can be deleted."""
        return ChangelogMode.UPSERT

    def accepts(self, mode: ChangelogMode, parent: int) -> bool:
        """Take two tables."""
        del parent
        return mode is ChangelogMode.UPSERT

    @property
    def word(self) -> str:
        """What is joined."""
        return "tabletablejoin"

    @property
    def in_arrival_order(self) -> bool:
        """A row meets the other table as it stands when the row arrives."""
        return True

    @property
    def waits(self) -> bool:
        """A pair leaves when it changes."""
        return False

    @property
    def regroups(self) -> bool:
        """Rows meet by their key."""
        return False

    @property
    def can_be_added(self) -> bool:
        """Not where results replace each other batch by batch."""
        return self.emit == "record"


@dataclass(frozen=True, eq=False, kw_only=True)
class StreamStreamJoin(Stateful):
    """Pairs of records with the same key whose timestamps are close.

    A right record matches when it is at most `before_ms` older and `after_ms` newer than the left
    one. `projection` is over a join scope. `left` and `outer` emit a record without a partner once
    its time has passed, and the grace; or, with `unmatched`, when it comes, and again with each
    partner that comes later.
    """

    kind: JoinKind
    before_ms: int
    after_ms: int
    grace_ms: int
    projection: Expression
    unmatched: Literal["in the end", "at once"] = "in the end"

    @property
    def changelog(self) -> ChangelogMode:
        """Pairs stand by themselves."""
        return ChangelogMode.APPEND

    def accepts(self, mode: ChangelogMode, parent: int) -> bool:
        """Take two streams."""
        del parent
        return mode is ChangelogMode.APPEND

    @property
    def word(self) -> str:
        """What is joined."""
        return "streamstreamjoin"

    @property
    def in_arrival_order(self) -> bool:
        """A record meets those that came before it."""
        return True

    @property
    def waits(self) -> bool:
        """Pairs leave as they meet, and no result changes another."""
        return False

    @property
    def can_be_followed(self) -> bool:
        """Not where old records come out alone: to those that follow, they would be late."""
        return self.kind == "inner"

    @property
    def has_watermark(self) -> bool:
        """Records are forgotten as time goes on."""
        return True

    @property
    def regroups(self) -> bool:
        """Records meet by their key."""
        return False
