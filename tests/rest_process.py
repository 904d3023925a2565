"""A REST proxy as users run it: an own process, started, stopped, killed and asked by HTTP."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from tests.http_process import HttpProcess, Response
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Sequence

V2_JSON = "application/vnd.kafka.v2+json"


class RestProcess(HttpProcess):
    """One `headwater rest` process on the loopback interface."""

    name = "REST proxy"
    media_type = V2_JSON
    ready = re.compile(r"REST proxy listening on (https?)://127\.0\.0\.1:(\d+)")

    def __init__(self, bootstrap_servers: str, options: Sequence[str] = ()) -> None:
        super().__init__()
        self.bootstrap_servers = bootstrap_servers
        self.options = list(options)

    def __repr__(self) -> str:
        return f"the REST proxy on port {self.port} with {self.options}"

    def command_line(self) -> list[str]:
        return [
            *(sys.executable, "-m", "headwater", "rest", "--port", str(self.port)),
            *("--bootstrap-server", self.bootstrap_servers, *self.options),
        ]

    def post(self, path: str, body: object = None, media_type: str = V2_JSON) -> Response:
        """Send a body and return whatever is answered."""
        return self.request("POST", path, body, {"Content-Type": media_type, "Accept": "*/*"})

    def produce(self, topic: str, format_: str, *records: Any, **more: Any) -> Response:
        """Write records by version 2."""
        body = {"records": list(records), **more}
        return self.post(f"/topics/{topic}", body, f"application/vnd.kafka.{format_}.v2+json")

    def consumer(self, group: str, topic: str | None = None, **settings: Any) -> str:
        """Make a consumer instance, subscribed to a topic, and return its path."""
        given = {"auto.offset.reset": "earliest", "fetch.min.bytes": 0, **settings}
        made = self.post(f"/consumers/{group}", given)
        assert made.status == 200, made
        path = f"/consumers/{group}/instances/{made.body['instance_id']}"
        if topic is not None:
            assert self.post(f"{path}/subscription", {"topics": [topic]}).status == 204
        return path

    def read(self, path: str, query: str = "") -> list[dict[str, Any]]:
        """Read once from a consumer instance."""
        answer = self.request("GET", f"{path}/records{query}", headers={"Accept": "*/*"})
        assert answer.status == 200, answer
        records: list[dict[str, Any]] = answer.body
        return records

    def read_until(self, path: str, count: int) -> list[dict[str, Any]]:
        """Read until there are so many records; a hang fails."""
        records: list[dict[str, Any]] = []

        def enough() -> bool:
            records.extend(self.read(path))
            return len(records) >= count

        wait_for(enough, lambda: f"{count} records of {path}, not {records}")
        return records
