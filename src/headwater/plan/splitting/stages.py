"""Splits a plan into stages, each of which is computed at once and as one.

Some chains of stateful operators cannot be: between such two, the plan is cut, and the first stage
writes an internal topic that the next one reads. Sinks that follow the same stateful operator, or
the same sources without any, share a stage, so that what they have in common is read and computed
once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar, assert_never

from headwater.plan.errors import PlanError
from headwater.plan.formats import INTERNAL, Format
from headwater.plan.graph import sources_of, walk
from headwater.plan.nodes import (
    ChangelogMode,
    Operator,
    Sink,
    Source,
    Stateful,
    StatefulOperator,
    TopicSink,
    TopicSource,
)
from headwater.plan.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

AnyOperator = TypeVar("AnyOperator", bound=Operator)
_INTERNAL = "-repartition"
Root: TypeAlias = Source | StatefulOperator
"""Where a stage begins."""


@dataclass(frozen=True)
class Stage:
    """What is computed as one: its sinks, and all that leads to them.

    `name` stays the same when stateless operators or sinks are added, so that the stage finds its
    checkpoint again.
    """

    name: str
    plan: Plan
    dead_letters: tuple[TopicSource, ...] = ()
    """The sources whose malformed records this stage puts aside, for all stages that read them."""

    @property
    def sinks(self) -> tuple[Sink, ...]:
        """What the stage writes."""
        return self.plan.sinks

    @property
    def sources(self) -> tuple[Source, ...]:
        """What the stage reads."""
        return self.plan.sources()

    @property
    def topic_sources(self) -> tuple[TopicSource, ...]:
        """The topics' readers among its sources."""
        return self.plan.topic_sources()

    @property
    def topics_read(self) -> tuple[str, ...]:
        """The topics that the stage reads, each as often as it does."""
        return tuple(topic for source in self.topic_sources for topic in source.topics)

    @property
    def stateful(self) -> tuple[StatefulOperator, ...]:
        """Its operators that keep state, inputs first."""
        return tuple(node for node in self.plan.walk() if isinstance(node, Stateful))

    @property
    def internal_topics(self) -> tuple[str, ...]:
        """The internal topics that the stage writes."""
        return tuple(
            str(sink.topic) for sink in self.sinks if isinstance(sink, TopicSink) and sink.internal
        )

    @property
    def only_adds(self) -> bool:
        """Whether no result replaces another: some wait for their time, or go to files alone."""
        stateful = self.stateful
        if stateful:
            return any(node.waits for node in stateful)
        return any(sink.only_adds for sink in self.sinks)


def split(plan: Plan) -> tuple[Stage, ...]:
    """Return the stages of a plan that was checked, writers of internal topics before readers."""
    cut = _Cutter(plan.name)
    sinks = [cut.rebuilt(sink) for sink in plan.sinks]
    return tuple(_named(plan, [*cut.internal_sinks, *sinks]))


def is_internal(topic: str, app: str) -> bool:
    """Tell whether a topic is one between the stages of an app, of this version or another."""
    return topic.startswith(f"{app}-") and topic.endswith(_INTERNAL)


def roots_of(node: Operator) -> tuple[Root, ...]:
    """Return the nearest stateful operators and sources above, or the node itself if it is one."""
    found: dict[int, Root] = {}
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if isinstance(current, Stateful | Source):
            found[id(current)] = current
        else:
            waiting.extend(reversed(current.parents))
    return tuple(found.values())


class _Cutter:
    def __init__(self, app: str) -> None:
        self._app = app
        self._rebuilt: dict[int, Operator] = {}
        self._sources: dict[int, TopicSource] = {}
        self.internal_sinks: list[TopicSink] = []

    def rebuilt(self, sink: Sink) -> Sink:
        """Return the sink over parents that were cut where they had to be."""
        for each in walk(sink.parents):
            if id(each) not in self._rebuilt:
                self._rebuilt[id(each)] = self._with_new_parents(each)
        return self._with_new_parents(sink)

    def _with_new_parents(self, node: AnyOperator) -> AnyOperator:
        parents = tuple(self._rebuilt[id(parent)] for parent in node.parents)
        if isinstance(node, Stateful):
            parents = tuple(
                self._cut(parent, node) if _must_cut(parent, node) else parent for parent in parents
            )
        unchanged = all(a is b for a, b in zip(parents, node.parents, strict=True))
        return node if unchanged else replace(node, parents=parents)

    def _cut(self, parent: Operator, node: Stateful) -> TopicSource:
        """Put an internal topic between the two; another reader of the same parent shares it."""
        found = self._sources.get(id(parent))
        if found is None:
            topic = f"{self._app}-{node.name or node.id}{_INTERNAL}"
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
                topics=(topic,), kind=_kind_of(parent, node), key_format=format_,
                value_format=format_, internal=True,
            )  # fmt: skip
        return found


def _must_cut(parent: Operator, node: Stateful) -> bool:
    """Tell whether the two cannot be in one stage; what waits for its time has to be alone."""
    above = [each for each in walk((parent,)) if isinstance(each, Stateful)]
    alone = node.waits or node.has_own_clock
    return any(
        alone or not earlier.can_be_followed or (node.has_watermark and earlier.has_watermark)
        for earlier in above
    )


def _kind_of(parent: Operator, node: Stateful) -> Literal["stream", "table"]:
    match parent.changelog:
        case ChangelogMode.APPEND:
            return "stream"
        case ChangelogMode.UPSERT:
            return "table"
        case ChangelogMode.RETRACT:
            raise PlanError(
                f"{node.id} cannot follow {parent.id} (at {parent.location}): the values that a "
                "change replaces cannot be handed on through an internal topic yet",
                node.location,
            )
        case mode:
            assert_never(mode)


def _named(plan: Plan, sinks: Sequence[Sink]) -> Iterator[Stage]:
    groups: dict[frozenset[int], list[Sink]] = {}
    roots: dict[frozenset[int], tuple[Root, ...]] = {}
    for sink in sinks:
        found = roots_of(sink)
        together = frozenset(id(root) for root in found)
        groups.setdefault(together, []).append(sink)
        roots[together] = found
    names = _stage_names(roots)
    put_aside: set[str] = set()
    for together, members in groups.items():
        part = Plan(plan.name, tuple(members), plan.settings)
        _check_clocks(part)
        malformed = tuple(
            source
            for source in part.topic_sources()
            if not source.on_malformed.fails and source.id not in put_aside
        )
        put_aside |= {source.id for source in malformed}
        yield Stage(names[together], part, malformed)


def _check_clocks(part: Plan) -> None:
    """Refuse what has a clock of its own beside other state, whose time is the records'."""
    stateful = [node for node in part.walk() if isinstance(node, Stateful)]
    by_the_clock = next((node for node in stateful if node.has_own_clock), None)
    if by_the_clock is not None and len(stateful) > 1:
        other = next(node for node in stateful if node is not by_the_clock)
        raise PlanError(
            f"{by_the_clock.id} goes by the clock on the wall, and is merged with what comes of "
            f"{other.id} (at {other.location}): write it to a topic with .to(...), and merge what "
            "is read from there",
            by_the_clock.location,
        )


def _stage_names(roots: dict[frozenset[int], tuple[Root, ...]]) -> dict[frozenset[int], str]:
    """Name stages after where they begin, those alike in the order of the program."""
    names: dict[frozenset[int], str] = {}
    taken: dict[str, int] = {}
    for together in sorted(roots, key=lambda each: max(root.number for root in roots[each])):
        name = "+".join(_root_name(root) for root in roots[together])
        taken[name] = taken.get(name, 0) + 1
        names[together] = name if taken[name] == 1 else f"{name}-{taken[name]}"
    return names


def _root_name(node: Root) -> str:
    if isinstance(node, Source):
        return "+".join(node.places)
    if node.name is not None:
        return node.name
    above = sorted({place for source in sources_of(node) for place in source.places})
    return f"{'+'.join(above)}-{node.word}"
