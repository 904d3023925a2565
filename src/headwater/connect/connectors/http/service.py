"""Requests to an HTTP service, sent again while it is worth it."""

from __future__ import annotations

import base64
import http.client
import logging
import random
import ssl
import threading
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from headwater.connect.connectors.connector import ConnectorError, RetriableError
from headwater.connect.connectors.http.status_codes import StatusCodes

if TYPE_CHECKING:
    from headwater.config import Values

_LOGGER = logging.getLogger(__name__)
_LONGEST_PAUSE_S = 10.0
_SHOWN = 200


class Answer(NamedTuple):
    """What a service says."""

    status: int
    body: bytes


class RefusedError(ConnectorError):
    """A service does not take a request, and another try is not worth it or did not help."""


class Service:
    """A service with one connection, which is kept between requests."""

    def __init__(self, config: Values, *, content_type: str | None = None) -> None:
        self._config = config
        self._retried = StatusCodes.read(config.text("retry.on.status.codes") or "")
        self._is_closed = threading.Event()
        self._connection: http.client.HTTPConnection | None = None
        self._host = ""
        self._headers = _headers(config)
        if content_type and "content-type" not in {name.lower() for name in self._headers}:
            self._headers["Content-Type"] = content_type

    def ask(self, method: str, url: str, body: bytes | None = None) -> Answer:
        """Return the answer to a request that was taken.

        Raises RefusedError if it is not, and RetriableError if the service is not there.
        """
        tries = self._config.integer("max.retries")
        for attempt in range(tries + 1):
            is_last = attempt == tries or self._is_closed.is_set()
            try:
                answer = self._send(method, url, body)
            except (OSError, http.client.HTTPException) as failure:
                self._drop()
                said = f"{method} {url} failed: {failure or type(failure).__name__}"
                if is_last:
                    raise RetriableError(said) from failure
            else:
                if 200 <= answer.status < 300:
                    return answer
                text = answer.body[:_SHOWN].decode("utf-8", "replace")
                said = f"{method} {url} is answered with {answer.status}: {text}"
                if is_last or answer.status not in self._retried:
                    raise RefusedError(said)
            _LOGGER.warning("%s; %d tries are left", said, tries - attempt)
            self._is_closed.wait(self._pause_s(attempt))
        raise AssertionError("the last try returns or raises")

    def close(self) -> None:
        """Close the connection, and wait for no other try."""
        self._is_closed.set()
        self._drop()

    def _send(self, method: str, url: str, body: bytes | None) -> Answer:
        parts = urlsplit(url)
        place = f"{parts.scheme}://{parts.netloc}"
        path = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
        if self._connection is not None and self._host == place:
            try:
                return self._exchange(self._connection, method, path, body)
            except (ConnectionError, http.client.HTTPException):
                pass  # a connection that the service has closed meanwhile tells nothing
        self._drop()
        self._connection, self._host = self._connect(parts.scheme, parts.netloc), place
        return self._exchange(self._connection, method, path, body)

    def _exchange(
        self, connection: http.client.HTTPConnection, method: str, path: str, body: bytes | None
    ) -> Answer:
        connection.request(method, path, body, self._headers)
        answer = connection.getresponse()
        return Answer(answer.status, answer.read())

    def _connect(self, scheme: str, place: str) -> http.client.HTTPConnection:
        within_s = self._config.integer("http.connect.timeout.ms") / 1000
        if scheme == "http":
            connection = http.client.HTTPConnection(place, timeout=within_s)
        else:
            file = self._config.text("https.ssl.ca.location") or None
            try:
                context = ssl.create_default_context(cafile=file)
            except OSError as failure:
                raise ConnectorError(
                    f"https.ssl.ca.location: {file} cannot be read: {failure}"
                ) from failure
            connection = http.client.HTTPSConnection(place, timeout=within_s, context=context)
        connection.connect()
        connection.sock.settimeout(self._config.integer("http.request.timeout.ms") / 1000)
        return connection

    def _pause_s(self, attempt: int) -> float:
        first_s = self._config.integer("retry.backoff.ms") / 1000
        if self._config.text("retry.backoff.policy") == "constant_value":
            return first_s
        return min(_LONGEST_PAUSE_S, first_s * 2.0**attempt) * random.uniform(0.5, 1.0)

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _headers(config: Values) -> dict[str, str]:
    given = (config.text("headers") or "").split(config.text("header.separator") or "|")
    pairs = (each.partition(":") for each in given if each)
    headers = {name.strip(): value.strip() for name, _, value in pairs}
    if (config.text("auth.type") or "").lower() == "basic":
        login = f"{config.text('connection.user')}:{config.text('connection.password') or ''}"
        headers["Authorization"] = f"Basic {base64.b64encode(login.encode()).decode()}"
    return headers
