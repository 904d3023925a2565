"""A schema registry as users run it: an own process, started, stopped, killed and asked by HTTP."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Any

from tests.http_process import HttpProcess, Response

if TYPE_CHECKING:
    from collections.abc import Sequence

V1_JSON = "application/vnd.schemaregistry.v1+json"


class RegistryProcess(HttpProcess):
    """One `headwater registry` process on the loopback interface."""

    name = "registry"
    media_type = V1_JSON
    ready = re.compile(r"schema registry listening on (https?)://127\.0\.0\.1:(\d+)")

    def __init__(self, bootstrap_servers: str, options: Sequence[str] = ()) -> None:
        super().__init__()
        self.bootstrap_servers = bootstrap_servers
        self.options = list(options)

    def __repr__(self) -> str:
        return f"the registry on port {self.port} with {self.options}"

    def command_line(self) -> list[str]:
        return [
            *(sys.executable, "-m", "headwater", "registry", "--port", str(self.port)),
            *("--bootstrap-server", self.bootstrap_servers, *self.options),
        ]

    def kill(self) -> None:
        """SIGKILL: no clean-up, no last words; but all that it printed until then is read."""
        super().kill()
        self._read_to_the_end()

    def register(self, subject: str, schema: object, type_: str = "AVRO", **more: Any) -> int:
        """Register a schema and return its id."""
        answer = self.try_register(subject, schema, type_, **more)
        assert answer.status == 200, answer
        return int(answer.body["id"])

    def try_register(
        self, subject: str, schema: object, type_: str = "AVRO", query: str = "", **more: Any
    ) -> Response:
        """Try to register a schema."""
        text = schema if isinstance(schema, str) else json.dumps(schema)
        body = {"schema": text, "schemaType": type_, **more}
        return self.request("POST", f"/subjects/{subject}/versions{query}", body)
