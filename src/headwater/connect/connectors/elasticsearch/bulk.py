"""Bulk requests: many documents at a time, and what the cluster says of each."""

from __future__ import annotations

import json
import logging
from bisect import bisect_right
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from headwater.connect.connectors.arrow_text import text_of
from headwater.connect.connectors.connector import ConnectorError, RefusedRecord, RetriableError
from headwater.connect.connectors.elasticsearch.cluster import BUSY, LINES
from headwater.connect.connectors.elasticsearch.settings import (
    WriteMethod,
    choice,
    write_method,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from headwater.config import Values
    from headwater.connect.connectors.elasticsearch.cluster import Cluster

_LOGGER = logging.getLogger(__name__)
_PATH = "/_bulk?filter_path=errors,items.*.status,items.*.error"
_CONFLICT = 409
# What it says of a document that it will never take, whoever sends it.
_MALFORMED = frozenset(
    {
        "action_request_validation_exception",
        "document_parsing_exception",
        "illegal_argument_exception",
        "mapper_parsing_exception",
        "not_x_content_exception",
        "parsing_exception",
        "strict_dynamic_mapping_exception",
        "x_content_parse_exception",
    }
)


class _Said(NamedTuple):
    """What the cluster says of a request: what it refuses, and where to begin again, if at all."""

    refused: list[RefusedRecord]
    again: list[int]
    reason: str
    older: int


class BulkWriter:
    """Sends rows with `lines`; several requests at a time, where their order does not matter."""

    def __init__(self, cluster: Cluster, config: Values) -> None:
        self._cluster = cluster
        self._most_rows = config.integer("batch.size")
        most_bytes = config.integer("bulk.size.bytes")
        self._most_bytes = most_bytes if most_bytes > 0 else 1 << 62
        self._fails = choice(config, "behavior.on.malformed.documents") == "fail"
        self._in_order = write_method(config) is WriteMethod.UPSERT
        at_once = 1 if self._in_order else config.integer("max.in.flight.requests")
        self._threads = ThreadPoolExecutor(at_once, "bulk")

    def write(self, rows: pa.Table) -> list[RefusedRecord]:
        """Write rows, and return those that the cluster will never take; raises ConnectorError."""
        parts = self._threads.map(self._send, self._requests(rows))
        return [refused for part in parts for refused in part]

    def close(self) -> None:
        """Wait for the requests that are on their way."""
        self._threads.shutdown(cancel_futures=True)

    def _requests(self, rows: pa.Table) -> Iterator[pa.Table]:
        import pyarrow.compute as pc

        ends = list(accumulate(pc.binary_length(rows["lines"]).to_pylist()))
        start = 0
        while start < len(ends):
            before = ends[start - 1] if start else 0
            fitting = bisect_right(ends, before + self._most_bytes, lo=start)
            end = max(start + 1, min(start + self._most_rows, fitting))
            yield rows.slice(start, end - start)
            start = end

    def _send(self, rows: pa.Table) -> list[RefusedRecord]:
        refused: list[RefusedRecord] = []
        for attempt in range(self._cluster.tries + 1):
            body = b"".join(text_of(rows["lines"]))
            answer = self._cluster.ask("POST", _PATH, body, content_type=LINES)
            said = self._read(rows, json.loads(answer.body))
            refused += said.refused
            if said.older:
                _LOGGER.info("%d documents were there in this version or a later one", said.older)
            if not said.again:
                return refused
            rows = rows.take(said.again)
            if attempt < self._cluster.tries:
                _LOGGER.warning("%d documents are sent again: %s", rows.num_rows, said.reason)
                self._cluster.pause(attempt)
        raise RetriableError(f"{rows.num_rows} documents were not taken: {said.reason}")

    def _read(self, rows: pa.Table, answer: Any) -> _Said:
        said = _Said([], [], "", 0)
        if not answer["errors"]:
            return said
        for number, item in enumerate(answer["items"]):
            (result,) = item.values()
            error = result.get("error")
            if error is None:
                continue
            is_conflict = result["status"] == _CONFLICT
            reason = _reason(error)
            if is_conflict and not self._in_order:
                said = said._replace(older=said.older + 1)
            elif is_conflict or result["status"] in BUSY:
                said.again.append(number)
                said = said._replace(reason=reason)
                if self._in_order:  # what comes after it has to come after it
                    return said._replace(again=[*range(number, rows.num_rows)])
            else:
                said.refused.append(self._refused(rows, number, error["type"], reason))
        return said

    def _refused(self, rows: pa.Table, number: int, kind: str, reason: str) -> RefusedRecord:
        topic, partition, offset = (
            rows[name][number].as_py() for name in ("_topic", "_partition", "_offset")
        )
        if kind not in _MALFORMED:
            raise ConnectorError(f"{topic} [{partition}] offset {offset} was not taken: {reason}")
        if self._fails:
            raise ConnectorError(
                f"{topic} [{partition}] offset {offset} was not taken: {reason}; "
                "behavior.on.malformed.documents=warn leaves such records out"
            )
        return RefusedRecord(topic, partition, offset, reason)


def _reason(error: Any) -> str:
    said: Sequence[str] = [
        f"{each['type']}: {each.get('reason', '')}"
        for each in (error, error.get("caused_by"))
        if each
    ]
    return ", caused by ".join(said)
