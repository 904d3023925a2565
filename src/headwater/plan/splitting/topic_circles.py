"""Refuses programs that read, over however many topics, what they write from it."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from headwater.plan.errors import PlanError
from headwater.plan.graph import sources_of
from headwater.plan.nodes import TopicSink, TopicSource

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from headwater.plan.plan import Plan


def check_circles(plan: Plan) -> None:
    """Raise PlanError at the sink that closes a circle: such a program would never end.

    Topics that an expression chooses are not known, and pass.
    """
    writers: dict[str, list[TopicSink]] = {}
    for sink in plan.sinks:
        if not isinstance(sink, TopicSink) or not isinstance(sink.topic, str):
            continue
        sources = [each for each in sources_of(sink) if isinstance(each, TopicSource)]
        read = {topic for source in sources for topic in source.topics}
        way = _way(sink.topic, read, writers)
        if way is not None:
            raise PlanError(_text(sink, sources, way), sink.location)
        for topic in read:
            writers.setdefault(topic, []).append(sink)


def _way(
    start: str, ends: Collection[str], writers: Mapping[str, list[TopicSink]]
) -> tuple[TopicSink, ...] | None:
    """Return the fewest sinks that lead from one topic to one of others."""
    waiting: deque[tuple[str, tuple[TopicSink, ...]]] = deque([(start, ())])
    seen = {start}
    while waiting:
        topic, way = waiting.popleft()
        if topic in ends:
            return way
        for sink in writers.get(topic, ()):
            written = str(sink.topic)
            if written not in seen:
                seen.add(written)
                waiting.append((written, (*way, sink)))
    return None


def _text(sink: TopicSink, sources: Collection[TopicSource], way: tuple[TopicSink, ...]) -> str:
    if not way:
        read_at = next(source.location for source in sources if sink.topic in source.topics)
        return (
            f"{sink.topic!r} is read at {read_at} and written from what was read: "
            "this would never end"
        )
    steps = "".join(f", {each.topic!r} is written from it at {each.location}" for each in way)
    return f"{sink.topic!r} is read{steps}, and {sink.topic!r} from that: this would never end"
