"""An HTTP service as users run it: an own process, asked over a socket."""

from __future__ import annotations

import base64
import http.client
import json
import ssl
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from tests.server_process import ServerProcess

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping

    from tests.certificates import Certificate

ANSWERED_WITHIN_S = 60.0


class Response(NamedTuple):
    """What a service answered."""

    status: int
    body: Any  # parsed, if it is JSON
    headers: Mapping[str, str]
    raw: bytes


class HttpProcess(ServerProcess):
    """A service on the loopback interface; `media_type` is what it is asked with and for."""

    media_type: ClassVar[str]

    def __init__(self) -> None:
        super().__init__()
        self.scheme = "http"
        self.user: tuple[str, str] | None = None
        self.ca_file: str | None = None
        self.client_certificate: Certificate | None = None

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def listens(self, said: re.Match[str]) -> None:
        self.scheme, self.port = said[1], int(said[2])

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Send one request and return whatever is answered."""
        sent = {"Accept": self.media_type, **(headers or {})}
        if self.user is not None:
            encoded = base64.b64encode(":".join(self.user).encode()).decode()
            sent.setdefault("Authorization", f"Basic {encoded}")
        payload: bytes | None = None
        if body is not None:
            payload = body if isinstance(body, bytes) else json.dumps(body).encode()
            sent.setdefault("Content-Type", self.media_type)
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
