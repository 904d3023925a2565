"""Splits a plan into stages, each of which is one Spark query.

Spark refuses some chains of stateful operators in one query. Between such two, the plan is cut:
the first stage writes an internal topic that the next one reads. Sinks that follow the same
stateful operator, or the same sources without any, share a stage, so that what they have in
common is read and computed once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from headwater.plan.formats import INTERNAL, Format
from headwater.plan.nodes import (
    Aggregate,
    FileSink,
    Node,
    Sink,
    StreamStreamJoin,
    StreamTableJoin,
    Table,
    TopicSink,
    TopicSource,
)
from headwater.plan.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Iterator

OutputMode = Literal["append", "update"]


@dataclass(frozen=True)
class Stage:
    """One Spark query: its sinks, all that leads to them, and how it writes.

    `name` stays the same when stateless operators or sinks are added, so that the stage finds its
    checkpoint again.
    """

    name: str
    plan: Plan
    mode: OutputMode
    dead_letters: tuple[TopicSource, ...] = ()
    """The sources whose broken records this stage puts aside, for all stages that read them."""

    @property
    def sinks(self) -> tuple[Sink, ...]:
        """What the query writes."""
        return self.plan.sinks

    @property
    def sources(self) -> tuple[TopicSource, ...]:
        """What the query reads."""
        return self.plan.sources()

    @property
    def stateful(self) -> tuple[Node, ...]:
        """Its operators that keep state, inputs first."""
        return tuple(node for node in self.plan.walk() if keeps_state(node))

    @property
    def internal_topics(self) -> tuple[str, ...]:
        """The internal topics that the query writes."""
        return tuple(
            str(sink.topic) for sink in self.sinks if isinstance(sink, TopicSink) and sink.internal
        )


def split(plan: Plan) -> tuple[Stage, ...]:
    """Return the stages, those that write internal topics before those that read them."""
    plan.check()
    cut = _Cutter(plan)
    sinks = [*(cut.rebuilt(sink) for sink in plan.sinks)]
    return tuple(_named(plan, [*cut.internal_sinks, *sinks]))  # type: ignore[list-item]


def keeps_state(node: Node) -> bool:
    """Tell whether the operator keeps state in its own stage.

    A table that is joined or written is followed by that operator itself.
    """
    return node.is_stateful and not isinstance(node, Table)


def runs_in_processor(node: Node) -> bool:
    """Tell whether the operator is one of ours in the JVM, on Spark's transformWithState."""
    if isinstance(node, Aggregate):
        return node.emit == "record" or node.reduce is not None or node.late_to is not None
    return isinstance(node, StreamTableJoin)


def is_outer(node: Node) -> bool:
    """Tell whether the operator is a stream-stream join that emits unmatched records."""
    return isinstance(node, StreamStreamJoin) and node.kind != "inner"


def output_mode(node: Node) -> OutputMode:
    """Return the mode that a stateful operator needs its query to run in."""
    final = isinstance(node, Aggregate) and node.emit == "final"
    return "append" if final or is_outer(node) else "update"


def roots_of(node: Node) -> tuple[Node, ...]:
    """Return the nearest stateful operators and sources, which is where sharing begins."""
    found: dict[int, Node] = {}
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if keeps_state(current) or not current.parents:
            found[id(current)] = current
        else:
            waiting.extend(reversed(current.parents))
    return tuple(found.values())


def _may_follow(earlier: Node, later: Node) -> bool:
    """Tell whether Spark runs the two in one query."""
    if output_mode(earlier) == "append" or output_mode(later) == "append":
        return False
    return runs_in_processor(earlier) or isinstance(earlier, StreamStreamJoin)


class _Cutter:
    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._rebuilt: dict[int, Node] = {}
        self._sources: dict[int, Node] = {}
        self.internal_sinks: list[TopicSink] = []

    def rebuilt(self, node: Node) -> Node:
        """Return the node over parents that were cut where they had to be."""
        for each in Plan(self._plan.name, (node,)).walk():  # type: ignore[arg-type]
            if id(each) not in self._rebuilt:
                self._rebuilt[id(each)] = self._with_new_parents(each)
        return self._rebuilt[id(node)]

    def _with_new_parents(self, node: Node) -> Node:
        parents = tuple(self._rebuilt[id(parent)] for parent in node.parents)
        if keeps_state(node):
            parents = tuple(
                self._cut(parent, node) if self._must_cut(parent, node) else parent
                for parent in parents
            )
        unchanged = all(a is b for a, b in zip(parents, node.parents, strict=True))
        return node if unchanged else replace(node, parents=parents)

    def _must_cut(self, parent: Node, node: Node) -> bool:
        return not all(_may_follow(earlier, node) for earlier in _stateful_above(parent))

    def _cut(self, parent: Node, node: Node) -> Node:
        """Put an internal topic between the two; another reader of the same parent shares it."""
        found = self._sources.get(id(parent))
        if found is None:
            topic = f"{self._plan.name}-{node.name or node.id}-repartition"
            format_ = Format(INTERNAL)
            self.internal_sinks.append(
                TopicSink(
                    id=f"{node.id}-repartition-sink", parents=(parent,), row=parent.row,
                    location=node.location, topic=topic, key_format=format_, value_format=format_,
                    internal=True,
                )
            )  # fmt: skip
            found = self._sources[id(parent)] = TopicSource(
                id=f"{node.id}-repartition-source", row=parent.row, location=node.location,
                topics=(topic,), kind="table" if parent.is_table else "stream",
                key_format=format_, value_format=format_, internal=True,
            )  # fmt: skip
        return found


def _stateful_above(node: Node) -> tuple[Node, ...]:
    return tuple(each for each in _above(node) if keeps_state(each))


def _above(node: Node) -> Iterator[Node]:
    return Plan("", (node,)).walk()  # type: ignore[arg-type]


def _named(plan: Plan, sinks: list[Sink]) -> Iterator[Stage]:
    groups: dict[frozenset[int], list[Sink]] = {}
    roots: dict[frozenset[int], tuple[Node, ...]] = {}
    for sink in sinks:
        found = roots_of(sink)
        together = frozenset(id(root) for root in found)
        groups.setdefault(together, []).append(sink)
        roots[together] = found
    names = _stage_names(roots)
    put_aside: set[str] = set()
    for together, members in groups.items():
        part = Plan(plan.name, tuple(members), plan.settings)
        broken = tuple(
            source
            for source in part.sources()
            if not source.on_broken.fails and source.id not in put_aside
        )
        put_aside |= {source.id for source in broken}
        yield Stage(names[together], part, _mode(part), broken)


def _stage_names(roots: dict[frozenset[int], tuple[Node, ...]]) -> dict[frozenset[int], str]:
    """Name stages after where they begin, those alike in the order of the program."""
    names: dict[frozenset[int], str] = {}
    taken: dict[str, int] = {}
    for together in sorted(roots, key=lambda each: max(root.number for root in roots[each])):
        name = "+".join(_root_name(root) for root in roots[together])
        taken[name] = taken.get(name, 0) + 1
        names[together] = name if taken[name] == 1 else f"{name}-{taken[name]}"
    return names


def _mode(part: Plan) -> OutputMode:
    """Update, which real-time queries need, unless something in the query insists on append."""
    modes = {output_mode(node) for node in part.walk() if keeps_state(node)}
    only_files = not modes and any(isinstance(sink, FileSink) for sink in part.sinks)
    return "append" if "append" in modes or only_files else "update"


def _root_name(node: Node) -> str:
    if isinstance(node, TopicSource):
        return "+".join(node.topics)
    if node.name is not None:
        return node.name
    kind = type(node).__name__.lower()
    above = sorted({topic for source in _sources_of(node) for topic in source.topics})
    return f"{'+'.join(above)}-{kind}"


def _sources_of(node: Node) -> tuple[TopicSource, ...]:
    return tuple(each for each in _above(node) if isinstance(each, TopicSource))
