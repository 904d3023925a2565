"""The HTTP source: what a service answers, asked again and again, becomes records."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import headwater
from headwater.connect.connectors.connector import (
    ConnectorError,
    ConnectorType,
    FieldError,
    SourceRows,
)
from headwater.connect.connectors.http.json_pointer import pointed_at
from headwater.connect.connectors.http.service import Service
from headwater.connect.connectors.http.settings import SOURCE_DEFINITIONS, check
from headwater.connect.data.shape import Shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.config import Values
    from headwater.connect.connectors.connector import ConnectorContext

_OFFSET = "${offset}"


class HttpSourcePlugin:
    """Asks an HTTP service for what is new."""

    class_names = (
        "io.confluent.connect.http.HttpSourceConnector",
        "HttpSourceConnector",
        "HttpSource",
    )
    type = ConnectorType.SOURCE
    version = headwater.__version__
    definitions = SOURCE_DEFINITIONS

    def check(self, config: Values) -> list[FieldError]:
        """Return what is missing."""
        needed = ["http.api.url", "topic.name.pattern"]
        if config.text("http.offset.mode") == "CHAINING":
            needed.append("http.offset.json.pointer")
        return check(config, *needed)

    def open(self, config: Values, context: ConnectorContext) -> HttpSource:
        """Return a source that goes on from the stored offset."""
        if errors := self.check(config):
            raise ConnectorError("; ".join(f"{each.name}: {each.message}" for each in errors))
        return HttpSource(config, context)


class HttpSource:
    """The records of one service, in the order of its answers."""

    def __init__(self, config: Values, context: ConnectorContext) -> None:
        self._config = config
        self._context = context
        self._service = Service(config)
        self._url = config.text("http.api.url") or ""
        self._body = config.text("http.request.body") or ""
        self._partition = {"url": self._url}
        stored = context.stored_offset(self._partition) or {}
        self._offset = str(stored.get("offset", config.text("http.initial.offset") or ""))
        self._next_poll = 0.0

    def poll(self) -> Sequence[SourceRows]:
        """Ask once."""
        now = time.monotonic()
        if now < self._next_poll:
            return ()
        items = self._ask()
        has_more = bool(items) and _OFFSET in self._url + self._body
        wait_s = self._config.integer("request.interval.ms") / 1000
        self._next_poll = now if has_more else now + wait_s
        if not items:
            return ()
        self._offset = self._after(items)
        return [self._rows(items)]

    def next_poll_s(self) -> float:
        """Return how long it is until `request.interval.ms` is over."""
        return max(0.0, self._next_poll - time.monotonic())

    def committed(self) -> None:
        """Do nothing: the offset moves on with each poll."""

    def close(self) -> None:
        """Close the connection."""
        self._service.close()

    def _ask(self) -> list[Any]:
        method = (self._config.text("http.request.method") or "").upper()
        body = self._body.replace(_OFFSET, self._offset).encode() if method == "POST" else None
        url = self._url.replace(_OFFSET, self._offset)
        answer = self._service.ask(method, url, body)
        try:
            found = pointed_at(
                json.loads(answer.body) if answer.body else [],
                self._config.text("http.response.data.json.pointer") or "",
            )
        except ValueError as failure:
            raise ConnectorError(
                f"the answer to {method} {url} cannot be read: {failure}"
            ) from None
        return found if isinstance(found, list) else [found]

    def _after(self, items: Sequence[Any]) -> str:
        if self._config.text("http.offset.mode") == "CHAINING":
            pointer = self._config.text("http.offset.json.pointer") or ""
            try:
                found = pointed_at(items[-1], pointer)
            except ValueError as failure:
                raise ConnectorError(f"a record has no offset: {failure}") from None
            return found if isinstance(found, str) else json.dumps(found)
        if not self._offset.isdigit():
            raise ConnectorError(
                f"the offset is {self._offset!r}, and has to be a number: set http.initial.offset, "
                "or take http.offset.mode=CHAINING"
            )
        return str(int(self._offset) + len(items))

    def _rows(self, items: Sequence[Any]) -> SourceRows:
        import pyarrow as pa
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        texts = [json.dumps(item, ensure_ascii=False) for item in items]
        topic = self._config.text("topic.name.pattern")
        rows = pa.table({"topic": [topic] * len(texts), "value": texts})
        frame = self._context.session.createDataFrame(rows).coalesce(1)
        frame = frame.withColumn("value", F.parse_json("value"))
        return SourceRows(frame, Shape(), ((self._partition, {"offset": self._offset}),))
