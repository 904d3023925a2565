"""A SQL server as users run it: an own process, started, stopped, killed and asked by HTTP."""

from __future__ import annotations

import base64
import json
import re
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import httpx
from tests.http_process import HttpProcess
from tests.waiting import HUNG_AFTER_S
from websockets.sync.client import connect

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from websockets.sync.connection import Connection

EARLIEST = {"auto.offset.reset": "earliest"}


class SqlProcess(HttpProcess):
    """One `headwater sql server` process on the loopback interface."""

    name = "SQL server"
    media_type = "application/vnd.ksql.v1+json"
    ready = re.compile(r"SQL server listening on (https?)://127\.0\.0\.1:(\d+)")

    def __init__(
        self, bootstrap_servers: str, state: Path, options: Sequence[str] = (), id_: str = "t_"
    ) -> None:
        super().__init__()
        self.bootstrap_servers = bootstrap_servers
        self.options = [
            *("--property", f"ksql.streams.state.dir={state}"),
            *("--property", f"ksql.service.id={id_}", *options),
        ]

    def __repr__(self) -> str:
        return f"the SQL server on port {self.port} with {self.options}"

    def command_line(self) -> list[str]:
        return [
            *(sys.executable, "-m", "headwater", "sql", "server", "--port", str(self.port)),
            *("--bootstrap-server", self.bootstrap_servers, *self.options),
        ]

    def run(self, text: str, **properties: Any) -> list[dict[str, Any]]:
        """Run statements; a refusal fails the test."""
        answer = self.request("POST", "/ksql", {"ksql": text, "streamsProperties": properties})
        assert answer.status == 200, answer
        entities: list[dict[str, Any]] = answer.body
        return entities

    def refusal(self, text: str, path: str = "/ksql") -> dict[str, Any]:
        """Run a statement that is refused, and return what the server says."""
        answer = self.request("POST", path, {"ksql": text})
        assert answer.status == 400, answer
        refused: dict[str, Any] = answer.body
        return refused

    def select(self, text: str, **properties: Any) -> list[list[Any]]:
        """Run a query that ends, and return its rows."""
        body = {"sql": text, "properties": properties}
        with self.client() as client:
            answer = client.post("/query-stream", json=body)
            assert answer.status_code == 200, answer.text
            return [json.loads(line) for line in answer.text.splitlines()[1:]]

    def stream(self, client: httpx.Client, text: str, **properties: Any) -> Any:
        """Run a query whose lines are read as they come."""
        body = {"sql": text, "properties": properties}
        return client.stream("POST", "/query-stream", json=body)

    def socket(self, text: str, **properties: Any) -> Connection:
        """Ask by WebSocket, as the user if there is one."""
        request = json.dumps({"ksql": text, "streamsProperties": properties})
        headers = {}
        if self.user is not None:
            name, password = self.user
            credentials = base64.b64encode(f"{name}:{password}".encode()).decode()
            headers["Authorization"] = f"Basic {credentials}"
        url = f"ws://127.0.0.1:{self.port}/ws/query?{urlencode({'request': request})}"
        return connect(url, additional_headers=headers, open_timeout=HUNG_AFTER_S, proxy=None)

    def client(self, *, http2: bool = False) -> httpx.Client:
        """Return a client with time enough for Spark's start."""
        return httpx.Client(base_url=self.url, timeout=HUNG_AFTER_S, http1=not http2, http2=http2)


def lines_of(response: httpx.Response) -> Iterator[Any]:
    """Iterate over lines of JSON as they come."""
    return (json.loads(line) for line in response.iter_lines() if line)
