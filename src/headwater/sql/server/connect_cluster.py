"""Statements about connectors, which Connect answers by its REST API."""

from __future__ import annotations

import asyncio
import http.client
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from headwater.sql.errors import SqlError
from headwater.sql.server.entities import connectors
from headwater.sql.server.entities.statuses import warning
from headwater.sql.tree.statements.changes import DropNamed
from headwater.sql.tree.statements.creation import CreateConnector
from headwater.sql.tree.statements.inspection import DescribeConnector, Listing, Show

if TYPE_CHECKING:
    from headwater.sql.server.entities.listings import Entity

_WITHIN_S = 90.0  # as long as Connect takes for an answer
_MISSING, _CONFLICT, _REFUSED = 404, 409, 400

CONNECTOR_LISTINGS = (
    Listing.CONNECTORS,
    Listing.SOURCE_CONNECTORS,
    Listing.SINK_CONNECTORS,
    Listing.CONNECTOR_PLUGINS,
)


class _ConnectError(Exception):
    """What Connect does not do, with the status that it answered."""

    def __init__(self, reason: str, status: int | None = None) -> None:
        super().__init__(reason)
        self.status = status


class ConnectCluster:
    """A worker of a Connect cluster, ours or Kafka's."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")

    async def run(
        self, statement: Show | CreateConnector | DescribeConnector | DropNamed, text: str
    ) -> Entity:
        """Return the entity that answers a statement; raises SqlError."""
        try:
            return await asyncio.to_thread(self._run, statement, text)
        except _ConnectError as refusal:
            raise SqlError(str(refusal), statement.location) from None

    def _run(
        self, statement: Show | CreateConnector | DescribeConnector | DropNamed, text: str
    ) -> Entity:
        match statement:
            case CreateConnector():
                return self._create(statement, text)
            case DropNamed(_, name, if_exists):
                return self._drop(name, if_exists, text)
            case DescribeConnector(name):
                status = self._ask("GET", f"{_path(name)}/status")
                info = self._ask("GET", _path(name))
                topics = self._ask("GET", f"{_path(name)}/topics")[name]["topics"]
                return connectors.described(status, info, topics, text)
            case Show(Listing.CONNECTOR_PLUGINS):
                return connectors.plugins(self._ask("GET", "/connector-plugins"), text)
            case Show(listing):
                found = self._ask("GET", "/connectors?expand=info&expand=status")
                return connectors.listed(found, listing, text)

    def _create(self, statement: CreateConnector, text: str) -> Entity:
        config = {
            given.name if given.name != given.name.upper() else given.name.lower(): _text(given)
            for given in statement.properties
        }
        try:
            body = {"name": statement.name, "config": config}
            return connectors.created(self._ask("POST", "/connectors", body), text)
        except _ConnectError as refusal:
            if refusal.status == _CONFLICT and statement.if_not_exists:
                return warning(f"Connector {statement.name} already exists", text)
            raise

    def _drop(self, name: str, if_exists: bool, text: str) -> Entity:
        try:
            self._ask("DELETE", _path(name))
        except _ConnectError as refusal:
            if refusal.status == _MISSING and if_exists:
                return warning(f"Connector '{name}' does not exist.", text)
            raise
        return connectors.dropped(name, text)

    def _ask(self, method: str, path: str, body: object = None) -> Any:
        place = urlsplit(self._url)
        is_https = place.scheme == "https"
        make = http.client.HTTPSConnection if is_https else http.client.HTTPConnection
        connection = make(place.hostname or "localhost", place.port, timeout=_WITHIN_S)
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        sent = None if body is None else json.dumps(body).encode()
        try:
            connection.request(method, f"{place.path}{path}", sent, headers)
            answer = connection.getresponse()
            raw = answer.read()
        except (OSError, http.client.HTTPException) as failure:
            raise _ConnectError(
                f"no Connect worker answers at {self._url} ({failure}): set ksql.connect.url"
            ) from None
        finally:
            connection.close()
        try:
            parsed = json.loads(raw) if raw else None
        except ValueError:
            parsed = None
        if answer.status >= _REFUSED:
            said = parsed.get("message") if isinstance(parsed, dict) else None
            raise _ConnectError(str(said or f"Connect answered {answer.status}"), answer.status)
        return parsed


def _path(name: str) -> str:
    return f"/connectors/{quote(name, safe='')}"


def _text(given: Any) -> str:
    value = getattr(given.value, "value", None)
    return str(value).lower() if isinstance(value, bool) else str(value)
