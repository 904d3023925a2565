"""The HTTP sink: records become requests to a service."""

from __future__ import annotations

import logging
from itertools import groupby, islice
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

import headwater
from headwater.connect.connectors.connector import ConnectorError, ConnectorType, FieldError
from headwater.connect.connectors.http.service import RefusedError, Service
from headwater.connect.connectors.http.settings import SINK_DEFINITIONS, check

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pyspark.sql import Column

    from headwater.config import Values
    from headwater.connect.connectors.connector import (
        ConnectorContext,
        SinkBatch,
        TopicPartition,
    )
    from headwater.connect.data.shape import Shape

_LOGGER = logging.getLogger(__name__)
_KEY, _TOPIC = "${key}", "${topic}"
_JSON_CONVERTER = "org.apache.kafka.connect.json.JsonConverter"


class HttpSinkPlugin:
    """Sends records to an HTTP service."""

    class_names = ("io.confluent.connect.http.HttpSinkConnector", "HttpSinkConnector", "HttpSink")
    type = ConnectorType.SINK
    version = headwater.__version__
    definitions = SINK_DEFINITIONS

    def check(self, config: Values) -> list[FieldError]:
        """Return what is missing or does not go together."""
        errors = check(config, "http.api.url")
        if not config.boolean("batch.json.as.array") and config.integer("batch.max.size") > 1:
            errors.append(
                FieldError("batch.json.as.array", "it may be false only if batch.max.size is 1")
            )
        url = config.text("http.api.url") or ""
        if _choice(config, "behavior.on.null.values") == "delete" and _KEY not in url:
            errors.append(
                FieldError("http.api.url", f"to delete by it, {_KEY} has to be in the address")
            )
        return errors

    def open(self, config: Values, context: ConnectorContext) -> HttpSink:
        """Return a sink; the service is first asked when there is something to send."""
        del context
        if errors := self.check(config):
            raise ConnectorError("; ".join(f"{each.name}: {each.message}" for each in errors))
        return HttpSink(config)


class _Record(NamedTuple):
    """A record as it is sent."""

    url: str
    text: str | None
    place: str


class HttpSink:
    """Sends records in the order of each partition; after a crash some are sent twice."""

    def __init__(self, config: Values) -> None:
        self._config = config
        self._url = config.text("http.api.url") or ""
        self._is_json = _choice(config, "request.body.format") == "json"
        self._service = Service(config, content_type="application/json" if self._is_json else None)

    def write(self, batch: SinkBatch) -> None:
        """Send a batch."""
        for (url, is_null), group in groupby(
            self._records(batch), key=lambda record: (record.url, record.text is None)
        ):
            if is_null:
                for record in group:
                    self._send_null(record)
                continue
            method = (self._config.text("request.method") or "").upper()
            while records := [*islice(group, self._config.integer("batch.max.size"))]:
                self._send(method, url, self._body(records), records)

    def moved_to(self, positions: Mapping[TopicPartition, int]) -> None:
        """Do nothing: it remembers no positions."""

    def close(self) -> None:
        """Close the connection."""
        self._service.close()

    def _records(self, batch: SinkBatch) -> Iterator[_Record]:
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        from headwater.connect.converters.java_text import java_text

        rows = batch.frame.select(
            "topic",
            java_text(F.col("key"), batch.shape.key).alias("key"),
            self._text(F.col("value"), batch.shape).alias("text"),
            F.format_string("%s [%d] offset %d", "_topic", "_partition", "_offset").alias("place"),
        )
        for part in rows.toArrow().to_batches():
            for row in part.to_pylist():
                url = self._url.replace(_TOPIC, quote(row["topic"], safe=""))
                url = url.replace(_KEY, quote(row["key"] or "", safe=""))
                yield _Record(url, row["text"], row["place"])

    def _text(self, value: Column, shape: Shape) -> Column:
        from headwater.connect.converters.converter import converter_for
        from headwater.connect.converters.java_text import java_text

        if not self._is_json:
            return java_text(value, shape.value)
        converter = converter_for(_JSON_CONVERTER, {"schemas.enable": "false"}, is_key=False)
        return converter.to_bytes(value, shape.value).cast("string")

    def _body(self, records: Sequence[_Record]) -> str:
        texts = [record.text or "" for record in records]
        if self._is_json:
            is_array = self._config.boolean("batch.json.as.array")
            return f"[{','.join(texts)}]" if is_array else texts[0]
        separator = self._config.text("batch.separator") or ""
        prefix, suffix = (self._config.text(f"batch.{name}") or "" for name in ("prefix", "suffix"))
        return f"{prefix}{separator.join(texts)}{suffix}"

    def _send_null(self, record: _Record) -> None:
        match _choice(self._config, "behavior.on.null.values"):
            case "delete":
                self._send("DELETE", record.url, None, [record])
            case "fail":
                raise ConnectorError(
                    f"{record.place} has no value; behavior.on.null.values says what becomes of it"
                )
            case "log":
                _LOGGER.warning("%s has no value, and is left out", record.place)

    def _send(self, method: str, url: str, body: str | None, records: Sequence[_Record]) -> None:
        try:
            self._service.ask(method, url, None if body is None else body.encode())
        except RefusedError as failure:
            behavior = _choice(self._config, "behavior.on.error")
            if behavior == "fail":
                raise RefusedError(f"{records[0].place}: {failure}") from failure
            if behavior == "log":
                _LOGGER.error("%s, %d record(s): %s", records[0].place, len(records), failure)


def _choice(config: Values, name: str) -> str:
    return (config.text(name) or "").lower()
