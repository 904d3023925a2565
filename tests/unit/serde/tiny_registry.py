"""The least of a registry that serialisers need, over real HTTP, with faults on demand."""

from __future__ import annotations

import json
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    import ssl


class TinyRegistry:
    """Keeps schemas in memory; `answers` and `hang_ups` make the next requests go wrong."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.schemas: list[dict[str, Any]] = []
        self.subjects: dict[str, list[int]] = {}
        self.requests: list[tuple[str, str]] = []
        self.headers: list[dict[str, str]] = []
        self.bodies: list[Any] = []
        self.connections = 0
        # What to answer instead, in this order: (status, body).
        self.answers: list[tuple[int, bytes]] = []
        # How many requests are to be met with a closed connection.
        self.hang_ups = 0
        # Whether connections are closed after each answer, without saying so.
        self.forgets_connections = False
        registry = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                registry.connections += 1
                super().setup()

            def do_GET(self) -> None:
                self._serve()

            do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815

            def _serve(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                registry.requests.append((self.command, self.path))
                registry.headers.append(dict(self.headers.items()))
                registry.bodies.append(json.loads(body) if body else None)
                if registry.hang_ups:
                    registry.hang_ups -= 1
                    self.close_connection = True
                    return
                if registry.answers:
                    status, answer = registry.answers.pop(0)
                else:
                    status, found = registry.serve(self.command, self.path, registry.bodies[-1])
                    answer = json.dumps(found).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)
                self.close_connection = registry.forgets_connections

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        scheme = "http" if tls is None else "https"
        self.url = f"{scheme}://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    def __enter__(self) -> TinyRegistry:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def guid(self, schema_id: int) -> uuid.UUID:
        return uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(self.schemas[schema_id - 1]))

    def serve(self, method: str, target: str, body: Any) -> tuple[int, Any]:
        path = [unquote(part) for part in urlsplit(target).path.strip("/").split("/")]
        match method, path:
            case "POST", ["subjects", subject, "versions"]:
                return 200, {"id": self.register(subject, body)}
            case "POST", ["subjects", subject]:
                if body in self.schemas and self._id(body) in self.subjects.get(subject, []):
                    versions = self.subjects[subject]
                    return self._version(subject, versions.index(self._id(body)) + 1)
                return 404, {"error_code": 40403, "message": "Schema not found"}
            case "GET", ["subjects", subject, "versions", version]:
                versions = self.subjects.get(subject, [])
                return self._version(
                    subject, len(versions) if version == "latest" else int(version)
                )
            case "GET", ["schemas", "ids", number] if 0 < int(number) <= len(self.schemas):
                return 200, self.schemas[int(number) - 1]
            case "GET", ["schemas", "guids", guid]:
                for schema_id, schema in enumerate(self.schemas, 1):
                    if str(self.guid(schema_id)) == guid:
                        return 200, schema
        return 404, {"error_code": 404, "message": f"HTTP 404 Not Found: {target}"}

    def register(self, subject: str, schema: dict[str, Any]) -> int:
        if schema not in self.schemas:
            self.schemas.append(schema)
        versions = self.subjects.setdefault(subject, [])
        if self._id(schema) not in versions:
            versions.append(self._id(schema))
        return self._id(schema)

    def _id(self, schema: dict[str, Any]) -> int:
        return self.schemas.index(schema) + 1

    def _version(self, subject: str, version: int) -> tuple[int, Any]:
        versions = self.subjects.get(subject, [])
        if not 0 < version <= len(versions):
            return 404, {"error_code": 40402, "message": f"Version {version} not found."}
        schema_id = versions[version - 1]
        schema = self.schemas[schema_id - 1]
        return 200, {"subject": subject, "version": version, "id": schema_id, **schema}
