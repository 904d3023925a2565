"""A Maven repository on the loopback interface, which counts what it is asked for."""

from __future__ import annotations

import hashlib
import http.server
import threading
from typing import Self


class MavenRepository:
    """Serves jars with their checksums."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.may_answer = threading.Event()
        self.may_answer.set()
        repository = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                repository.asked.append(self.path)
                repository.may_answer.wait()
                data = repository.files.get(self.path)
                self.send_response(404 if data is None else 200)
                self.send_header("Content-Length", str(len(data or b"")))
                self.end_headers()
                self.wfile.write(data or b"")

            def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/mirror"

    def add(self, path: str, data: bytes, checksum: str | None = None) -> None:
        digest = checksum or hashlib.sha1(data).hexdigest()
        self.files[f"/mirror/{path}"] = data
        self.files[f"/mirror/{path}.sha1"] = f"{digest}  {path.rpartition('/')[2]}\n".encode()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.may_answer.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
