"""A schema registry as users run it: an own process, started, stopped, killed and asked by HTTP."""

from __future__ import annotations

import base64
import http.client
import json
import re
import ssl
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.server_process import ServerProcess

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.certificates import Certificate

ANSWERED_WITHIN_S = 60.0

V1_JSON = "application/vnd.schemaregistry.v1+json"


class Response(NamedTuple):
    """What the registry answered."""

    status: int
    body: Any  # parsed, if it is JSON
    headers: Mapping[str, str]
    raw: bytes


class RegistryProcess(ServerProcess):
    """One `headwater registry` process on the loopback interface."""

    name = "registry"
    ready = re.compile(r"schema registry listening on (https?)://127\.0\.0\.1:(\d+)")

    def __init__(self, bootstrap_servers: str, options: Sequence[str] = ()) -> None:
        super().__init__()
        self.bootstrap_servers = bootstrap_servers
        self.options = list(options)
        self.scheme = "http"
        self.user: tuple[str, str] | None = None
        self.ca_file: str | None = None
        self.client_certificate: Certificate | None = None

    def __repr__(self) -> str:
        return f"the registry on port {self.port} with {self.options}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def command_line(self) -> list[str]:
        return [
            *(sys.executable, "-m", "headwater", "registry", "--port", str(self.port)),
            *("--bootstrap-server", self.bootstrap_servers, *self.options),
        ]

    def listens(self, said: re.Match[str]) -> None:
        self.scheme, self.port = said[1], int(said[2])

    def kill(self) -> None:
        """SIGKILL: no clean-up, no last words; but all that it printed until then is read."""
        super().kill()
        self._read_to_the_end()

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Send one request and return whatever is answered."""
        sent = {"Accept": V1_JSON, **(headers or {})}
        if self.user is not None:
            encoded = base64.b64encode(":".join(self.user).encode()).decode()
            sent.setdefault("Authorization", f"Basic {encoded}")
        payload: bytes | None = None
        if body is not None:
            payload = body if isinstance(body, bytes) else json.dumps(body).encode()
            sent.setdefault("Content-Type", V1_JSON)
        connection = self.connect()
        try:
            connection.request(method, path, payload, sent)
            answer = connection.getresponse()
            raw = answer.read()
        finally:
            connection.close()
        kind = answer.headers.get("content-type", "")
        return Response(
            answer.status,
            json.loads(raw) if "json" in kind and _is_json(raw) else None,
            {name.lower(): value for name, value in answer.headers.items()},
            raw,
        )

    def get(self, path: str) -> Any:
        """Return what a path holds, and insist that it is there."""
        answer = self.request("GET", path)
        assert answer.status == 200, answer
        return answer.body

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

    def connect(self) -> http.client.HTTPConnection:
        """Return a connection that the caller closes."""
        if self.scheme == "http":
            return http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWERED_WITHIN_S)
        context = ssl.create_default_context(cafile=self.ca_file)
        if self.client_certificate is not None:
            context.load_cert_chain(
                self.client_certificate.certificate, self.client_certificate.key
            )
        return http.client.HTTPSConnection(
            "127.0.0.1", self.port, timeout=ANSWERED_WITHIN_S, context=context
        )


def _is_json(raw: bytes) -> bool:
    try:
        json.loads(raw)
    except ValueError:
        return False
    return True
