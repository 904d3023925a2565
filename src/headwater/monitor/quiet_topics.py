"""Since when nothing was written to a topic, as far as anybody has looked."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headwater.metrics.cluster_state import ClusterState, TopicState

Ends = tuple[int | None, ...]


class QuietTopics:
    """Compares where topics end with where they ended the time before."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Ends, float]] = {}

    def take(self, cluster: ClusterState, now_s: float) -> dict[str, float]:
        """Return since when each topic has been quiet; a new one, since now."""
        known = {}
        for topic in cluster.topics:
            ends, since = _ends(topic), now_s
            before = self._known.get(topic.name)
            # A leader that did not answer says nothing of records.
            if before is not None and (None in ends or before[0] == ends):
                ends, since = before
            known[topic.name] = (ends, since)
        self._known = known
        return {name: since for name, (_, since) in known.items()}


def _ends(topic: TopicState) -> Ends:
    return tuple(partition.high_watermark for partition in topic.partitions)
