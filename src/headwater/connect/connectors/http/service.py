"""Requests to an HTTP service, sent again while it is worth it."""

from __future__ import annotations

import http.client
import logging
import random
import ssl
import threading
from typing import TYPE_CHECKING

from headwater.connect.connectors.connector import ConnectorError, RetriableError
from headwater.connect.connectors.http.connection import ConnectionSettings, HttpConnection, basic
from headwater.connect.connectors.http.status_codes import StatusCodes
from headwater.connect.connectors.tls_context import not_trusted, tls_context

if TYPE_CHECKING:
    from headwater.config import Values
    from headwater.connect.connectors.http.connection import Answer

_LOGGER = logging.getLogger(__name__)
_LONGEST_PAUSE_S = 10.0
_AUTHORITIES = "https.ssl.ca.location"


class RefusedError(ConnectorError):
    """A service does not take a request, and another try is not worth it or did not help."""


class Service:
    """A service with one connection, which is kept between requests."""

    def __init__(self, config: Values, *, content_type: str | None = None) -> None:
        self._config = config
        self._retried = StatusCodes.read(config.text("retry.on.status.codes") or "")
        self._is_closed = threading.Event()
        self._connection = HttpConnection(
            ConnectionSettings(
                config.integer("http.connect.timeout.ms") / 1000,
                config.integer("http.request.timeout.ms") / 1000,
                lambda: tls_context(config, _AUTHORITIES),
            )
        )
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
                answer = self._connection.send(method, url, body, self._headers)
            except ssl.SSLCertVerificationError as failure:
                raise not_trusted(url, failure, _AUTHORITIES) from failure
            except (OSError, http.client.HTTPException) as failure:
                self._connection.close()
                said = f"{method} {url} failed: {failure or type(failure).__name__}"
                if is_last:
                    raise RetriableError(said) from failure
            else:
                if answer.is_yes:
                    return answer
                said = f"{method} {url} is answered with {answer.status}: {answer.shown()}"
                if is_last or answer.status not in self._retried:
                    raise RefusedError(said)
            _LOGGER.warning("%s; %d tries are left", said, tries - attempt)
            self._is_closed.wait(self._pause_s(attempt))
        raise AssertionError("the last try returns or raises")

    def close(self) -> None:
        """Close the connection, and wait for no other try."""
        self._is_closed.set()
        self._connection.close()

    def _pause_s(self, attempt: int) -> float:
        first_s = self._config.integer("retry.backoff.ms") / 1000
        if self._config.text("retry.backoff.policy") == "constant_value":
            return first_s
        return min(_LONGEST_PAUSE_S, first_s * 2.0**attempt) * random.uniform(0.5, 1.0)


def _headers(config: Values) -> dict[str, str]:
    given = (config.text("headers") or "").split(config.text("header.separator") or "|")
    pairs = (each.partition(":") for each in given if each)
    headers = {name.strip(): value.strip() for name, _, value in pairs}
    if (config.text("auth.type") or "").lower() == "basic":
        user, password = config.text("connection.user"), config.text("connection.password")
        headers["Authorization"] = basic(user or "", password or "")
    return headers
