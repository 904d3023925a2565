"""What of a program depends on its guarantee, so that it cannot go on with another one.

With `at_least_once`, topics are written by Spark's own sink, which knows no time of a record:
Spark then leaves the time out of an aggregate's state, too, unless something else needs it. And
malformed records have a query of their own there, where with `exactly_once` the one that reads the
topic also writes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, assert_never

from headwater.plan.expressions.expressions import Expression
from headwater.plan.expressions.scope import Scope
from headwater.plan.graph import walk
from headwater.plan.nodes import (
    Aggregate,
    Changes,
    ForeignKeyJoin,
    Process,
    Sink,
    Source,
    Stateless,
    StreamStreamJoin,
    StreamTableJoin,
    Suppress,
    TableAggregate,
    TableTableJoin,
    TopicSink,
)
from headwater.plan.windows import Window
from headwater.spark.compiler.sharing import queries_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from headwater.plan.nodes import Operator
    from headwater.plan.splitting.stages import Stage


class Bound(NamedTuple):
    """Something that a checkpoint has in one way for each guarantee, and its line."""

    location: str
    reason: str

    def __str__(self) -> str:
        return f"{self.location}: {self.reason}" if self.location else self.reason


def bound_to_guarantee(stages: Iterable[Stage]) -> tuple[Bound, ...]:
    """Return what keeps a program from changing its guarantee, in the order of the program."""
    return tuple(bound for stage in stages for bound in _bound(stage))


def dead_letters_join_in(stage: Stage) -> bool:
    """Tell whether what is malformed can be written by the query of the stage's topics."""
    return len(_topic_queries(stage)) == 1


def _bound(stage: Stage) -> Iterator[Bound]:
    for sinks in _topic_queries(stage):
        # Of several sinks in one query, Spark computes all parts of all records.
        for aggregate in _timed_for(sinks[0]) if len(sinks) == 1 else ():
            yield Bound(
                aggregate.location,
                "this aggregate keeps the times of records with 'exactly_once', and does not with "
                "'at_least_once'",
            )
    if dead_letters_join_in(stage):
        for source in stage.dead_letters:
            yield Bound(
                source.location,
                "malformed records have a query of their own with 'at_least_once', and have none "
                "with 'exactly_once'",
            )


def _topic_queries(stage: Stage) -> list[tuple[TopicSink, ...]]:
    return queries_of([sink for sink in stage.sinks if isinstance(sink, TopicSink)])


def _timed_for(sink: TopicSink) -> Iterator[Operator]:
    """Yield the operators that have times in their state for the records of this sink alone."""
    if sink.internal:
        return
    above = [*walk((sink,))]
    for node in above:
        if _may_leave_time_out(node):
            below = {id(node)}
            for each in above:
                if any(id(parent) in below for parent in each.parents):
                    below.add(id(each))
            if not any(_looks_at_time(each) for each in above if id(each) in below - {id(node)}):
                yield node


def _may_leave_time_out(node: Operator) -> bool:
    """Tell whether Spark keeps the operator's state, and as it sees fit."""
    match node:
        case Aggregate(window=window):
            # Windows that overlap look at the time, to leave out those before the epoch.
            overlap = isinstance(window, Window) and window.advance_ms < window.size_ms
            return not node.in_arrival_order and not overlap
        case Changes() | TableAggregate() | Suppress() | Process():
            return False
        case StreamTableJoin() | TableTableJoin() | ForeignKeyJoin() | StreamStreamJoin():
            return False
        case Source() | Sink() | Stateless():
            return False
        case _:
            assert_never(node)


def _looks_at_time(node: Operator) -> bool:
    # A field of the value may be called so as well; under a prefix, the record's own is told apart.
    scope = Scope.of_record(node.parents[0].row, prefix=_PREFIX)
    texts = [each.sql(scope) for each in node.operands if isinstance(each, Expression)]
    return any(f"{_PREFIX}timestamp" in text for text in texts)


_PREFIX = "the_records_own_"
