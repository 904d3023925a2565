"""Streams, tables and queries of a SQL server, ours or ksqlDB's, by ksqlDB's HTTP interface."""

from __future__ import annotations

import json
import socket
import threading
from collections import deque
from http.client import HTTPException
from typing import TYPE_CHECKING, Any

from headwater.clients.errors import ClientError
from headwater.console.model.records.questions import ConsoleError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.console.model.json_service import JsonService

# The first statement that needs Spark waits for it.
_WITHIN_S = 120.0
_MEDIA = "application/vnd.ksql.v1+json"
_DELIMITED = "application/vnd.ksqlapi.delimited.v1"
MOST_QUERIES = 8
MOST_ROWS = 500

Entity = dict[str, Any]


class RunningQuery:
    """A pull or push query whose rows come in a thread, until it ends or is stopped."""

    def __init__(self, service: JsonService, text: str, properties: Mapping[str, str]) -> None:
        self._service = service
        self._body = {"sql": f"{text};", "properties": dict(properties)}
        self.columns: list[str] = []
        self.types: list[str] = []
        self.rows: deque[list[Any]] = deque(maxlen=MOST_ROWS)
        self.received = 0
        self.failure: str | None = None
        self._answer: Any = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._read, name="console-query", daemon=True)

    def start(self) -> None:
        """Send it."""
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """Whether rows may still come."""
        return self._thread.is_alive() and not self._stopping.is_set()

    def stop(self) -> None:
        """Hang up, which ends it on the server as well."""
        self._stopping.set()
        answer = self._answer
        if answer is not None:
            _hang_up(answer)

    def _read(self) -> None:
        try:
            with self._service.open(
                "POST", "/query-stream", self._body, within_s=_WITHIN_S, media_type=_DELIMITED
            ) as self._answer:
                if self._stopping.is_set():
                    return
                # A push query may have nothing to say for hours.
                _patient(self._answer)
                for line in self._answer:
                    if line.strip():
                        self._take(json.loads(line))
        except ClientError as failure:
            self.failure = str(failure)
        except (OSError, HTTPException, ValueError) as failure:
            if not self._stopping.is_set():
                self.failure = f"the SQL server has hung up ({failure})"

    def _take(self, line: Any) -> None:
        if isinstance(line, list):
            self.rows.append(line)
            self.received += 1
        elif "columnNames" in line:
            self.columns, self.types = line["columnNames"], line["columnTypes"]
        elif "message" in line:
            self.failure = str(line["message"])


class Sql:
    """All methods block, and raise ClientError where the server does not answer."""

    def __init__(self, service: JsonService) -> None:
        self.url = service.url
        self._service = service
        self._queries: list[RunningQuery] = []

    def run(self, text: str, properties: Mapping[str, str] | None = None) -> list[Entity]:
        """Run a statement that is no query; raises RefusedError with what the server says."""
        body = {"ksql": f"{text};", "streamsProperties": dict(properties or {})}
        found: list[Entity] = self._service.ask(
            "POST", "/ksql", body, within_s=_WITHIN_S, media_type=_MEDIA
        )
        return found

    def query(self, text: str, properties: Mapping[str, str]) -> RunningQuery:
        """Return a query that runs; raises ConsoleError where there are too many."""
        self._queries = [each for each in self._queries if each.is_running]
        if len(self._queries) >= MOST_QUERIES:
            raise ConsoleError(f"{MOST_QUERIES} queries run already; stop one of them.")
        query = RunningQuery(self._service, text, properties)
        self._queries.append(query)
        query.start()
        return query

    def sources(self) -> list[Entity]:
        """Return all streams and tables."""
        streams, tables = self.run("SHOW STREAMS; SHOW TABLES")
        return [*streams["streams"], *tables["tables"]]

    def functions(self) -> list[str]:
        """Return the names of all functions."""
        (listed,) = self.run("SHOW FUNCTIONS")
        return sorted(str(each["name"]).upper() for each in listed["functions"])

    def queries(self) -> list[Entity]:
        """Return the queries that run."""
        (listed,) = self.run("SHOW QUERIES")
        found: list[Entity] = listed["queries"]
        return found

    def describe(self, name: str) -> Entity:
        """Return a stream or table; raises RefusedError where there is none."""
        (entity,) = self.run(f"DESCRIBE {_quoted(name)} EXTENDED")
        found: Entity = entity["sourceDescription"]
        return found

    def explain(self, query_id: str) -> Entity:
        """Return a query with its topology."""
        (entity,) = self.run(f"EXPLAIN {_id(query_id)}")
        found: Entity = entity["queryDescription"]
        return found

    def act(self, query_id: str, action: str) -> None:
        """Pause, resume or terminate a query."""
        self.run(f"{action.upper()} {_id(query_id)}")

    def drop(self, kind: str, name: str) -> None:
        """Drop a stream or table; its topic stays."""
        self.run(f"DROP {kind} {_quoted(name)}")

    def stop(self) -> None:
        """Stop all queries of all pages."""
        for each in self._queries:
            each.stop()


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _id(query_id: str) -> str:
    if not query_id.replace("_", "").isalnum():
        raise ValueError(f"'{query_id}' is no query's id")
    return query_id


def _socket(answer: Any) -> socket.socket | None:
    raw = getattr(getattr(answer, "fp", None), "raw", None)
    found: socket.socket | None = getattr(raw, "_sock", None)
    return found


def _patient(answer: Any) -> None:
    if (peer := _socket(answer)) is not None:
        peer.settimeout(None)


def _hang_up(answer: Any) -> None:
    """Wake the thread that reads; closing the answer would wait for that."""
    if (peer := _socket(answer)) is not None:
        try:
            peer.shutdown(socket.SHUT_RDWR)
        except OSError:
            return  # the server was faster
