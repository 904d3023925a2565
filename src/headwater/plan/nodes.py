"""The operators of a plan, each with its inputs, the type of its rows and its place in the program.

Nodes are plain data and compared by identity; a plan is the graph of their `parents`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from headwater.plan.expressions import Expression
from headwater.plan.python_function import PythonFunction

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.plan.aggregations import Aggregation
    from headwater.plan.formats import Format
    from headwater.plan.rows import RowType
    from headwater.plan.windows import Window

Operand: TypeAlias = Expression | PythonFunction
SourceKind: TypeAlias = Literal["stream", "table", "global_table"]
JoinKind: TypeAlias = Literal["inner", "left", "outer"]
Emit: TypeAlias = Literal["batch", "record", "final"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Node:
    """An operator.

    `id` is made as Kafka Streams does (`KSTREAM-FILTER-0000000003`), `name` is the user's own for
    it, which keeps state and internal topics apart from the numbering. `location` is the line of
    the user's program.
    """

    id: str
    parents: tuple[Node, ...] = ()
    row: RowType
    location: str = ""
    name: str | None = None

    @property
    def number(self) -> int:
        """The place in the order of the program, which is the number in the id."""
        digits = "".join(part for part in self.id.split("-") if part.isdecimal())
        return int(digits or 0)

    @property
    def operands(self) -> tuple[Operand, ...]:
        """All that the operator computes from records."""
        parts = [part for value in vars(self).values() for part in _parts(value)]
        return tuple(part for part in parts if isinstance(part, Expression | PythonFunction))

    @property
    def changes_key(self) -> bool:
        """Whether records may leave with another key than they came with."""
        return False

    @property
    def is_stateful(self) -> bool:
        """Whether the operator remembers records or results."""
        return False

    @property
    def is_table(self) -> bool:
        """Whether the rows are upserts: the latest value of a key, null where it is deleted."""
        return False

    @property
    def needs_repartition(self) -> bool:
        """Whether equal keys may be in different partitions after this operator."""
        waiting: list[Node] = [self]
        while waiting:
            node = waiting.pop()
            if node.scatters_keys:
                return True
            if not node.brings_keys_together:
                waiting.extend(node.parents)
        return False

    @property
    def scatters_keys(self) -> bool:
        """Whether equal keys may leave in different partitions although they came in one."""
        return self.changes_key

    @property
    def brings_keys_together(self) -> bool:
        """Whether equal keys are in one partition after this operator, wherever they came from."""
        return self.is_stateful


@dataclass(frozen=True, eq=False, kw_only=True)
class RecordByRecord(Node):
    """An operator that looks at one record at a time: of a table it makes another table."""

    @property
    def is_table(self) -> bool:
        """Whether the input is a table."""
        return self.parents[0].is_table


@dataclass(frozen=True, eq=False, kw_only=True)
class Stateful(Node):
    """An operator that remembers records or results."""

    @property
    def is_stateful(self) -> bool:
        """Each of them does."""
        return True


@dataclass(frozen=True)
class Start:
    """Where a source begins without a checkpoint.

    `at` is `earliest`, `latest`, or `timestamp` with `timestamp_ms`, or `offsets` with an offset
    by topic and partition.
    """

    at: Literal["earliest", "latest", "timestamp", "offsets"] = "earliest"
    timestamp_ms: int | None = None
    offsets: Mapping[str, Mapping[int, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class OnBroken:
    """What becomes of a record that cannot be decoded: it fails the job, or goes to a topic."""

    dead_letter_topic: str | None = None

    @property
    def fails(self) -> bool:
        """Whether such a record stops the job."""
        return self.dead_letter_topic is None


@dataclass(frozen=True, eq=False, kw_only=True)
class TopicSource(Node):
    """Records of topics, as a stream or as the changes of a table.

    `timestamp_by` is an expression over the decoded record that replaces its timestamp.
    """

    topics: tuple[str, ...]
    kind: SourceKind
    key_format: Format
    value_format: Format
    start: Start = Start()
    on_broken: OnBroken = OnBroken()
    timestamp_by: Expression | None = None
    internal: bool = False

    @property
    def is_table(self) -> bool:
        """Whether the topic is read as a table's changes."""
        return self.kind != "stream"


@dataclass(frozen=True, eq=False, kw_only=True)
class Filter(RecordByRecord):
    """Keeps the records for which the predicate is true."""

    predicate: Operand


@dataclass(frozen=True, eq=False, kw_only=True)
class Split(RecordByRecord):
    """Finds the first condition that a record meets, for the branches that follow.

    A function is asked once for a record, and only if no condition before it holds.
    """

    conditions: tuple[Operand, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Branch(RecordByRecord):
    """The records of a split for which one condition was the first to hold.

    The last branch, whose index is the number of conditions, has those for which none did.
    """

    index: int

    @property
    def split(self) -> Split:
        """The operator that found out."""
        (split,) = self.parents
        assert isinstance(split, Split), "a branch follows a split"
        return split


@dataclass(frozen=True, eq=False, kw_only=True)
class Map(RecordByRecord):
    """Replaces the key, the value, or both at once.

    `pair` is a Python function that returns a struct of `key` and `value`; with it, `key` and
    `value` are None. On a table the operands are made so that a deleted key stays deleted.
    """

    key: Operand | None = None
    value: Operand | None = None
    pair: PythonFunction | None = None

    @property
    def changes_key(self) -> bool:
        """Whether the key is replaced."""
        return self.key is not None or self.pair is not None


@dataclass(frozen=True, eq=False, kw_only=True)
class FlatMap(Node):
    """Makes any number of records out of each: one for each element of an array.

    An element is the new value, or with `keyed` a struct of `key` and `value`.
    """

    items: Operand
    keyed: bool

    @property
    def changes_key(self) -> bool:
        """Whether the elements bring keys."""
        return self.keyed


@dataclass(frozen=True, eq=False, kw_only=True)
class Merge(Node):
    """All records of several streams of the same type."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Observe(RecordByRecord):
    """Calls something for each record and passes it on unchanged.

    `peek` and `for_each` call a function; `print` writes to standard output after `label`. As a
    sink of a plan, nothing follows it.
    """

    kind: Literal["peek", "for_each", "print"]
    function: PythonFunction | None = None
    label: str = ""


@dataclass(frozen=True, eq=False, kw_only=True)
class Repartition(Node):
    """Brings equal keys together, in this many partitions if a count is given."""

    partitions: int | None = None

    @property
    def brings_keys_together(self) -> bool:
        """That is all it does."""
        return True


@dataclass(frozen=True, eq=False, kw_only=True)
class Table(Stateful):
    """A stream read as upserts: the latest value of each key; null deletes it."""

    @property
    def is_table(self) -> bool:
        """This is one."""
        return True


@dataclass(frozen=True, eq=False, kw_only=True)
class ToStream(Node):
    """A table's changes as a stream of records."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Aggregate(Stateful):
    """Folds the records of each group, and of each window if there is one.

    The key of the result is `by`, or the record's key where that is None. The value is a struct:
    `window_start` and `window_end` if windowed, then one field for each aggregation; or, for a
    single `reduce`, the reduced value itself (after the window's fields if windowed, when it is a
    struct). Records with a null key or a null value are skipped, as in Kafka Streams.

    `emit` is `batch` (the last result of each group in a micro-batch), `record` (one for each
    record) or `final` (one for each window, after it has closed). Late records are counted, and
    written to `late_to` if that is a topic.
    """

    by: Operand | None
    aggregations: tuple[tuple[str, Aggregation], ...]
    window: Window | None = None
    emit: Emit = "batch"
    late_to: str | None = None

    @property
    def reduce(self) -> Aggregation | None:
        """The reduction, if this is one."""
        first = self.aggregations[0][1]
        return first if first.function == "reduce" else None

    @property
    def is_table(self) -> bool:
        """Results replace those before them."""
        return True


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
    def scatters_keys(self) -> bool:
        """Records go to where the table's key is, which is not where their own belongs."""
        return self.key is not None


@dataclass(frozen=True, eq=False, kw_only=True)
class StreamStreamJoin(Stateful):
    """Pairs of records with the same key whose timestamps are close.

    A right record matches when it is at most `before_ms` older and `after_ms` newer than the left
    one. `projection` is over a join scope. `left` and `outer` emit an unmatched record once its
    time has passed.
    """

    kind: JoinKind
    before_ms: int
    after_ms: int
    grace_ms: int
    projection: Expression


@dataclass(frozen=True, eq=False, kw_only=True)
class TopicSink(Node):
    """Writes records to a topic; an expression chooses it for each record."""

    topic: str | Expression
    key_format: Format
    value_format: Format
    internal: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class FileSink(Node):
    """Appends records to files in a folder."""

    path: str
    format: str = "parquet"


@dataclass(frozen=True, eq=False, kw_only=True)
class TableStoreSink(Node):
    """Keeps the latest value of each key in a named store, for look-ups."""

    store: str


Sink: TypeAlias = TopicSink | FileSink | TableStoreSink | Observe


def _parts(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else (value,)
