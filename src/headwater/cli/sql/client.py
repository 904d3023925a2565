"""Asks a SQL server, ours or ksqlDB's, as its shell does: statement by statement."""

from __future__ import annotations

import base64
import codecs
import http.client
import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from headwater.cli.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MEDIA = "application/vnd.ksql.v1+json"
_ANSWERED_WITHIN_S = 300.0


@dataclass
class SqlClient:
    """A session with a server: properties that SET has given go with every statement."""

    url: str
    user: str | None = None
    properties: dict[str, str] = field(default_factory=dict)

    def info(self) -> dict[str, Any]:
        """Return who the server is; raises CommandError."""
        with self._asked("GET", "/info") as response:
            found: dict[str, Any] = json.loads(response.read())["KsqlServerInfo"]
            return found

    def check_property(self, name: str) -> None:
        """Raise CommandError if the server says that there is no such property."""
        with self._asked("GET", f"/is_valid_property/{quote(name, safe='')}") as response:
            response.read()

    def statement(self, text: str) -> list[dict[str, Any]]:
        """Run a statement and return the entities that answer it; raises CommandError."""
        with self._asked("POST", "/ksql", self._body(text)) as response:
            found: list[dict[str, Any]] = json.loads(response.read())
            return found

    def rows(self, text: str) -> Iterator[dict[str, Any]]:
        """Run a query, and iterate over what comes: a header, rows, a last message."""
        with self._asked("POST", "/query", self._body(text), is_endless=True) as response:
            yield from _elements(_texts(response))

    def lines(self, text: str) -> Iterator[str]:
        """Run PRINT, and iterate over its lines."""
        with self._asked("POST", "/query", self._body(text), is_endless=True) as response:
            yield from _lines(response)

    def _body(self, text: str) -> dict[str, Any]:
        return {"ksql": text, "streamsProperties": self.properties}

    @contextmanager
    def _asked(
        self, method: str, path: str, body: object = None, *, is_endless: bool = False
    ) -> Iterator[http.client.HTTPResponse]:
        place = urlsplit(self.url)
        is_https = place.scheme == "https"
        make = http.client.HTTPSConnection if is_https else http.client.HTTPConnection
        headers = {"Content-Type": _MEDIA, "Accept": _MEDIA}
        if self.user is not None:
            headers["Authorization"] = f"Basic {base64.b64encode(self.user.encode()).decode()}"
        sent = None if body is None else json.dumps(body).encode()
        try:
            connection = make(place.hostname or "localhost", place.port, timeout=_ANSWERED_WITHIN_S)
        except ValueError as failure:
            raise CommandError(f"{self.url} is no address of a server: {failure}") from None
        try:
            try:
                connection.connect()
                if is_endless:  # nobody knows when the next row comes
                    connection.sock.settimeout(None)
                connection.request(method, f"{place.path.rstrip('/')}{path}", sent, headers)
                response = connection.getresponse()
            except (OSError, http.client.HTTPException) as failure:
                raise CommandError(f"no SQL server answers at {self.url}: {failure}") from None
            if response.status != 200:
                raise CommandError(_message(response.read()))
            try:
                yield response
            except (OSError, http.client.HTTPException) as failure:
                raise CommandError(f"the server at {self.url} has gone: {failure}") from None
        finally:
            connection.close()


def _lines(response: http.client.HTTPResponse) -> Iterator[str]:
    while line := response.readline():
        text = line.decode().rstrip("\n")
        if text:
            yield text


def _texts(response: http.client.HTTPResponse) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")()
    while data := response.read1():
        yield decoder.decode(data)


def _elements(texts: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Return the objects of an array as soon as each is there, wherever servers end their lines.

    >>> list(_elements(['[{"a":1}', ',\\n{"b"', ':2}]']))
    [{'a': 1}, {'b': 2}]
    """
    decoder, known = json.JSONDecoder(), ""
    for text in texts:
        known += text
        while element := known.lstrip("[], \r\n"):
            try:
                found, end = decoder.raw_decode(element)
            except ValueError:
                break  # the rest of it is still on its way
            yield found
            known = element[end:]


def _message(body: bytes) -> str:
    try:
        return str(json.loads(body)["message"])
    except (ValueError, KeyError, TypeError):
        return body.decode(errors="replace") or "the server refused the statement"
