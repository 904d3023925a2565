"""One connection to an HTTP service, kept between requests."""

from __future__ import annotations

import base64
import http.client
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Mapping


class Answer(NamedTuple):
    """What a service says."""

    status: int
    body: bytes

    @property
    def is_yes(self) -> bool:
        """Whether it has taken the request."""
        return 200 <= self.status < 300

    def shown(self) -> str:
        """Return the beginning of what it says."""
        return self.body[:_SHOWN].decode("utf-8", "replace")


class ConnectionSettings(NamedTuple):
    """How long to wait, in seconds, and what makes the context of an encrypted connection."""

    connect_s: float
    read_s: float
    tls: Callable[[], ssl.SSLContext]


_SHOWN = 300


class HttpConnection:
    """Sends requests one after the other, over one connection while the place is the same."""

    def __init__(self, settings: ConnectionSettings) -> None:
        self._settings = settings
        self._connection: http.client.HTTPConnection | None = None
        self._place = ""

    def send(self, method: str, url: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
        """Return the answer; raises OSError or http.client.HTTPException if there is none."""
        parts = urlsplit(url)
        place = f"{parts.scheme}://{parts.netloc}"
        path = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
        if self._connection is not None and self._place == place:
            try:
                return _exchange(self._connection, method, path, body, headers)
            except (ConnectionError, http.client.HTTPException):
                pass  # a connection that the service has closed meanwhile tells nothing
        self.close()
        self._connection, self._place = self._connect(parts.scheme, parts.netloc), place
        return _exchange(self._connection, method, path, body, headers)

    def close(self) -> None:
        """Close it; the next request opens it again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connect(self, scheme: str, place: str) -> http.client.HTTPConnection:
        within_s = self._settings.connect_s
        if scheme == "http":
            connection = http.client.HTTPConnection(place, timeout=within_s)
        else:
            context = self._settings.tls()
            connection = http.client.HTTPSConnection(place, timeout=within_s, context=context)
        connection.connect()
        connection.sock.settimeout(self._settings.read_s)
        return connection


def basic(user: str, password: str) -> str:
    """Return the Authorization header of a user with a password.

    >>> basic("ann", "secret")
    'Basic YW5uOnNlY3JldA=='
    """
    return f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"


def _exchange(
    connection: http.client.HTTPConnection,
    method: str,
    path: str,
    body: bytes | None,
    headers: Mapping[str, str],
) -> Answer:
    connection.request(method, path, body, dict(headers))
    answer = connection.getresponse()
    return Answer(answer.status, answer.read())
