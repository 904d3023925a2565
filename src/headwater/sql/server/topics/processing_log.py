"""The processing log: a topic that tells of records that could not be decoded.

Spark writes the entries about the records of stored queries (headwater/spark/sources). What this
process reads itself, for push queries in Python, it tells of here.
"""

from __future__ import annotations

import base64
import logging
import threading
from typing import TYPE_CHECKING, Any

import msgspec

from headwater.clients.connection import Connection
from headwater.clients.errors import describe

if TYPE_CHECKING:
    from headwater.sql.server.config import SqlConfig
    from headwater.sql.server.rows.formats import MalformedError
    from headwater.sql.server.rows.records import Record

logger = logging.getLogger("headwater.sql")

_DESERIALIZATION_ERROR = 0


def deserializer_of(query_id: str) -> str:
    """Return the name of the logger that tells of records which a query cannot decode.

    >>> deserializer_of("CSAS_BIG_7")
    'processing.CSAS_BIG_7.KsqlTopic.Source.deserializer'
    """
    return f"processing.{query_id}.KsqlTopic.Source.deserializer"


class ProcessingLog:
    """Writes entries about records that this process reads."""

    def __init__(self, config: SqlConfig) -> None:
        self._access = config.cluster
        self._settings = config.log
        self._producer: Any = None
        self._guard = threading.Lock()

    def tell(self, query_id: str, topic: str, record: Record, malformed: MalformedError) -> None:
        """Tell of a record that a query leaves out, in the server's own log too."""
        place = f"{topic} [{record.partition}] at offset {record.offset}"
        reason = f"{malformed.field}: {malformed.__cause__ or malformed}"
        logger.warning("query %s leaves a record out: %s, %s", query_id, place, reason)
        error: dict[str, Any] = {
            "target": malformed.field,
            "errorMessage": f"{place}, {reason}",
            "cause": [reason],
            "topic": topic,
        }
        if self._settings.includes_rows:
            data = record.key if malformed.field == "key" else record.value
            error["recordB64"] = base64.b64encode(data or b"").decode()
        entry = {
            "level": "ERROR",
            "logger": deserializer_of(query_id),
            "time": record.timestamp,
            "message": {"type": _DESERIALIZATION_ERROR, "deserializationError": error},
        }
        try:
            self._client().produce(
                self._settings.topic, msgspec.json.encode(entry), on_delivery=_delivered
            )
            self._producer.poll(0)
        except BufferError:
            logger.warning("%s is not reached: the entry above is here only", self._settings.topic)

    def stop(self) -> None:
        """Let what is on its way arrive."""
        if self._producer is not None:
            self._producer.flush(10)

    def _client(self) -> Any:
        with self._guard:
            if self._producer is None:
                self._producer = Connection(self._access).producer({"linger.ms": 50})
            return self._producer


def _delivered(error: Any, _message: Any) -> None:
    if error is not None:
        logger.warning("the processing log did not take an entry: %s", describe(error))
