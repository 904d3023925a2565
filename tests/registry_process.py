"""A schema registry as users run it: an own process, started, stopped, killed and asked by HTTP."""

from __future__ import annotations

import atexit
import base64
import http.client
import json
import re
import signal
import ssl
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

READY_WITHIN_S = 60.0
STOPPED_WITHIN_S = 60.0
ANSWERED_WITHIN_S = 60.0

V1_JSON = "application/vnd.schemaregistry.v1+json"

_READY = re.compile(r"schema registry listening on (https?)://127\.0\.0\.1:(\d+)")


@atexit.register
def _kill_survivors() -> None:
    for process in RegistryProcess.started:
        if process.running:
            process.kill()


class Response(NamedTuple):
    """What the registry answered."""

    status: int
    body: Any  # parsed, if it is JSON
    headers: Mapping[str, str]
    raw: bytes


class RegistryProcess:
    """One `headwater registry` process on the loopback interface.

    `start` returns when it says that it listens. `stop` asks it to end and insists on a clean end;
    `kill` gives it no chance. It can be started again on the same port.
    """

    started: list[RegistryProcess] = []  # noqa: RUF012 - every one of this run, to find survivors

    def __init__(self, bootstrap_servers: str, options: Sequence[str] = ()) -> None:
        self.bootstrap_servers = bootstrap_servers
        self.options = list(options)
        self.port = 0
        self.scheme = "http"
        self.user: tuple[str, str] | None = None
        self.ca_file: str | None = None
        self.output: list[str] = []
        self._process: subprocess.Popen[str] | None = None
        self._reader: threading.Thread | None = None
        self._ready = threading.Event()
        self._listens = False

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def text(self) -> str:
        """All that it printed so far, over all its starts."""
        return "".join(self.output)

    def start(self) -> RegistryProcess:
        assert not self.running
        self._ready.clear()
        self._listens = False
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-m", "headwater", "registry", "--port", str(self.port)),
                *("--bootstrap-server", self.bootstrap_servers, *self.options),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        if self not in RegistryProcess.started:
            RegistryProcess.started.append(self)
        self._reader = threading.Thread(
            target=self._read_output, args=(self._process,), daemon=True
        )
        self._reader.start()
        self._ready.wait(READY_WITHIN_S)
        if not self._listens:
            self.kill()
            raise AssertionError(f"the registry did not come up:\n{self.text}")
        return self

    def stop(self) -> None:
        """End it as an operator would, and insist that it ends well."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        try:
            code = self._process.wait(STOPPED_WITHIN_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"it did not stop on SIGTERM:\n{self.text}") from None
        self._join_reader()
        assert code == 0, f"it ended with {code}:\n{self.text}"
        assert "Traceback" not in self.text, self.text

    def kill(self) -> None:
        """SIGKILL: no clean-up, no last words."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        self._join_reader()

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
        return http.client.HTTPSConnection(
            "127.0.0.1", self.port, timeout=ANSWERED_WITHIN_S, context=context
        )

    def _read_output(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                self.output.append(line)
                if not self._listens and (match := _READY.search(line)):
                    self.scheme, self.port = match[1], int(match[2])
                    self._listens = True
                    self._ready.set()
        self._ready.set()

    def _join_reader(self) -> None:
        if self._reader is not None:
            self._reader.join(STOPPED_WITHIN_S)
            assert not self._reader.is_alive()


def _is_json(raw: bytes) -> bool:
    try:
        json.loads(raw)
    except ValueError:
        return False
    return True
