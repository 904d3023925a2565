"""Asks a SQL server, ours or ksqlDB's, as its shell does: statement by statement."""

from __future__ import annotations

import base64
import http.client
import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from headwater.cli.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Iterator

_MEDIA = "application/vnd.ksql.v1+json"
_ANSWERED_WITHIN_S = 300.0


@dataclass
class SqlClient:
    """A session with a server: properties that SET has given go with every statement."""

    url: str
    user: str | None = None
    properties: dict[str, str] = field(default_factory=dict)

    def statement(self, text: str) -> list[dict[str, Any]]:
        """Run a statement and return the entities that answer it; raises CommandError."""
        body = {"ksql": text, "streamsProperties": self.properties}
        with self._asked("/ksql", body) as response:
            found: list[dict[str, Any]] = json.loads(response.read())
            return found

    def rows(self, text: str) -> Iterator[dict[str, Any]]:
        """Run a query, and iterate over what comes: a header, rows, a last message."""
        body = {"ksql": text, "streamsProperties": self.properties}
        with self._asked("/query", body) as response:
            for line in _lines(response):
                element = _element(line)
                if element:
                    yield json.loads(element)

    def lines(self, text: str) -> Iterator[str]:
        """Run PRINT, and iterate over its lines."""
        body = {"ksql": text, "streamsProperties": self.properties}
        with self._asked("/query", body) as response:
            yield from _lines(response)

    @contextmanager
    def _asked(self, path: str, body: object) -> Iterator[http.client.HTTPResponse]:
        place = urlsplit(self.url)
        is_https = place.scheme == "https"
        make = http.client.HTTPSConnection if is_https else http.client.HTTPConnection
        connection = make(place.hostname or "localhost", place.port, timeout=_ANSWERED_WITHIN_S)
        headers = {"Content-Type": _MEDIA, "Accept": _MEDIA}
        if self.user is not None:
            headers["Authorization"] = f"Basic {base64.b64encode(self.user.encode()).decode()}"
        try:
            try:
                connection.request("POST", path, json.dumps(body).encode(), headers)
                response = connection.getresponse()
            except (OSError, http.client.HTTPException) as failure:
                raise CommandError(f"no SQL server answers at {self.url}: {failure}") from None
            if response.status != 200:
                raise CommandError(_message(response.read()))
            yield response
        finally:
            connection.close()


def _lines(response: http.client.HTTPResponse) -> Iterator[str]:
    while line := response.readline():
        text = line.decode().rstrip("\n")
        if text:
            yield text


def _element(line: str) -> str:
    """Return the object of a line that is a part of an array, without the array's own signs.

    >>> _element('[{"row":{"columns":[1]}},')
    '{"row":{"columns":[1]}}'
    """
    start, end = line.find("{"), line.rfind("}")
    return line[start : end + 1] if start >= 0 else ""


def _message(body: bytes) -> str:
    try:
        return str(json.loads(body)["message"])
    except (ValueError, KeyError, TypeError):
        return body.decode(errors="replace") or "the server refused the statement"
