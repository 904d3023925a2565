"""Requests to the nodes of a cluster, sent again while it is worth it."""

from __future__ import annotations

import gzip
import http.client
import logging
import queue
import random
import ssl
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from headwater.connect.connectors.connector import RetriableError
from headwater.connect.connectors.elasticsearch.settings import (
    KEY_PASSWORD,
    KEY_STORE,
    TRUST_STORE,
)
from headwater.connect.connectors.http.connection import ConnectionSettings, HttpConnection, basic
from headwater.connect.connectors.http.service import RefusedError
from headwater.connect.connectors.tls_context import not_trusted, tls_context

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from headwater.config import Values
    from headwater.connect.connectors.http.connection import Answer

_LOGGER = logging.getLogger(__name__)
JSON, LINES = "application/json", "application/x-ndjson"
BUSY = frozenset({429, 502, 503, 504})
"""What is answered by who may take the same request later."""


class Cluster:
    """Some nodes; any thread may ask."""

    def __init__(self, config: Values) -> None:
        self.tries = config.integer("max.retries")
        self._urls = [url.rstrip("/") for url in config.words("connection.url")]
        self._at = 0
        self._first_pause_s = config.integer("retry.backoff.ms") / 1000
        self._is_compressed = config.boolean("connection.compression")
        self._headers: dict[str, str] = {}
        if user := config.text("connection.username"):
            self._headers["Authorization"] = basic(user, config.text("connection.password") or "")
        self._settings = ConnectionSettings(
            config.integer("connection.timeout.ms") / 1000,
            config.integer("read.timeout.ms") / 1000,
            lambda: tls_context(config, TRUST_STORE, KEY_STORE, KEY_PASSWORD),
        )
        self._idle: queue.SimpleQueue[HttpConnection] = queue.SimpleQueue()
        self._closed = threading.Event()

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        content_type: str = JSON,
        answers: Collection[int] = (),
    ) -> Answer:
        """Return an answer of 200 to 299, or one that is among `answers`.

        Raises RefusedError for others, ConnectorError for a node that is not trusted, and
        RetriableError if none answers or has room.
        """
        headers = {**self._headers, "Content-Type": content_type}
        if body is not None and self._is_compressed:
            headers["Content-Encoding"] = "gzip"
            body = gzip.compress(body, 3)
        for attempt in range(self.tries + 1):
            url = self._urls[self._at % len(self._urls)]
            try:
                with self._connection() as connection:
                    answer = connection.send(method, url + path, body, headers)
            except ssl.SSLCertVerificationError as failure:
                raise not_trusted(url, failure, TRUST_STORE) from failure
            except (OSError, http.client.HTTPException) as failure:
                self._at += 1
                said = f"{method} {url}{path} failed: {failure or type(failure).__name__}"
            else:
                if answer.is_yes or answer.status in answers:
                    return answer
                said = f"{method} {url}{path} is answered with {answer.status}: {answer.shown()}"
                if answer.status not in BUSY:
                    raise RefusedError(said)
            if attempt < self.tries:
                _LOGGER.warning("%s; %d tries are left", said, self.tries - attempt)
                self.pause(attempt)
        raise RetriableError(said)

    def pause(self, attempt: int) -> None:
        """Wait before another try; raises RetriableError when the connector is stopped."""
        longest_s = self._first_pause_s * 2.0**attempt
        if self._closed.wait(random.uniform(longest_s / 2, longest_s)):
            raise RetriableError("the connector was stopped while the cluster did not answer")

    def close(self) -> None:
        """Close the connections, and wait for no other try."""
        self._closed.set()
        while not self._idle.empty():
            self._idle.get().close()

    @contextmanager
    def _connection(self) -> Iterator[HttpConnection]:
        try:
            connection = self._idle.get_nowait()
        except queue.Empty:
            connection = HttpConnection(self._settings)
        try:
            yield connection
        except BaseException:
            connection.close()  # whatever it would still say belongs to this request
            raise
        if self._closed.is_set():
            connection.close()
        else:
            self._idle.put(connection)
