"""What stands before a search cluster: TLS, a password, maybe certificates of clients."""

from __future__ import annotations

import base64
import http.client
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Self

from tests.waiting import HUNG_AFTER_S

if TYPE_CHECKING:
    from pathlib import Path

_PASSED_ON = ("Content-Type", "Content-Encoding")


class TlsGate:
    """Lets one user through to a service on a port of loopback; others are answered with 401.

    `certificate` has the gate's own certificate and key. With `clients`, only those come in who
    show a certificate of these authorities.
    """

    def __init__(
        self, port: int, certificate: Path, user: str, password: str, clients: Path | None = None
    ) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        if clients is not None:
            context.load_verify_locations(clients)
            context.verify_mode = ssl.CERT_REQUIRED
        login = f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_all(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if self.headers.get("Authorization") != login:
                    self._answer(401, b"Unauthorized")
                    return
                inside = http.client.HTTPConnection("127.0.0.1", port, timeout=HUNG_AFTER_S)
                headers = {name: self.headers[name] for name in _PASSED_ON if self.headers[name]}
                inside.request(self.command, self.path, body, headers)
                answer = inside.getresponse()
                self._answer(answer.status, answer.read())
                inside.close()

            do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = handle_all  # noqa: N815 - its names

            def _answer(self, status: int, body: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(b"" if self.command == "HEAD" else body)

            def log_message(self, *about: object) -> None:
                """Say nothing of each request."""

        class Server(ThreadingHTTPServer):
            # Who does not trust the gate leaves in the middle of the handshake, in its own thread.
            def finish_request(self, request: object, address: object) -> None:
                assert not isinstance(request, tuple)
                try:
                    wrapped = context.wrap_socket(request, server_side=True)  # type: ignore[arg-type]
                except OSError:
                    return
                with wrapped:
                    super().finish_request(wrapped, address)

            def handle_error(self, *about: object) -> None:
                """Say nothing of connections that break."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)

    @property
    def url(self) -> str:
        """Where it is, as connection.url has it."""
        return f"https://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *about: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
