"""A connector as a picture: what it reads, itself, and what it writes, with what flows there."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from headwater.console.model.connect.connector_form import shown
from headwater.console.model.programs.topology import Node

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from headwater.console.model.connect.connect import Connector

MOST_TOPICS = 12
# What the plug-ins of ours and the usual ones of others call the place outside.
_PLACES = (
    *("file", "path", "directory", "s3.bucket.name", "connection.url", "database.hostname"),
    *("mqtt.server.uri", "http.api.url", "url", "topics.dir"),
)
_TOPICS = ("topics", "topic", "kafka.topic")
_USER = re.compile(r"//[^/@]*@")
_OPTIONS = re.compile(r"[?;].*")
_WORDS = {"source": "rows_read", "sink": "rows_written"}


class ConnectorFlow:
    """Draws a connector each time that it is looked at; knows how fast it was since the last."""

    def __init__(self) -> None:
        self._seen: tuple[float, int] | None = None

    def nodes(
        self,
        connector: Connector,
        topics: Sequence[str],
        rates: Mapping[str, float],
        lags: Mapping[str, int],
    ) -> list[Node]:
        """Return the boxes of the picture: a source's topics are on the right, a sink's left."""
        is_source = connector.type == "source"
        names = list(topics) or list(_topics_of(connector.config))
        boxes = [
            _topic(name, None if is_source else lags.get(name), rates.get(name))
            for name in names[:MOST_TOPICS]
        ]
        if len(names) > MOST_TOPICS:
            boxes.append(Node("Topic", "topic:", f"{len(names) - MOST_TOPICS} more topics"))
        outside = Node("Source" if is_source else "Sink", "outside", outside_of(connector))
        outside.figures = "source" if is_source else "target"
        itself = Node("Connector", "connector", connector.name)
        itself.figures = ", ".join(self._told(connector))
        left, right = ([outside], boxes) if is_source else (boxes, [outside])
        for each in left:
            each.into.append(itself.name)
        itself.into += [each.name for each in right]
        return [*left, itself, *right]

    def _told(self, connector: Connector) -> Iterator[str]:
        yield connector.health.lower()
        rate = self._rate(connector)
        if rate is not None:
            yield f"{rate:,.0f} rows/s"
        lag = connector.progress.get("lag")
        if isinstance(lag, int):
            yield f"lag {lag:,}"

    def _rate(self, connector: Connector) -> float | None:
        rows = connector.progress.get(_WORDS.get(connector.type, ""))
        if not isinstance(rows, int):
            return None
        now, before = time.monotonic(), self._seen
        self._seen = (now, rows)
        if before is None or rows < before[1]:  # it was started anew
            return None
        return (rows - before[1]) / max(now - before[0], 0.001)


def outside_of(connector: Connector) -> str:
    """Return what is at its other end, as far as its configuration says; without secrets."""
    config = shown(connector.config)
    for name in _PLACES:
        if place := config.get(name):
            return _OPTIONS.sub("", _USER.sub("//", place))
    return connector.class_name.rpartition(".")[2]


def _topics_of(config: Mapping[str, str]) -> Iterator[str]:
    for name in _TOPICS:
        yield from (each.strip() for each in config.get(name, "").split(",") if each.strip())


def _topic(name: str, lag: int | None, rate: float | None) -> Node:
    told = [] if rate is None else [f"{rate:,.0f} records/s"]
    if lag is not None:
        told.append(f"lag {lag:,}")
    return Node("Topic", f"topic:{name}", name, figures=", ".join(told))
