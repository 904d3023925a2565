"""HTTP to schema registries: kept-alive connections, several addresses, retries, auth and TLS."""

from __future__ import annotations

import http.client
import json
import ssl
import threading
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from headwater.clients.retries import PASSING_STATUSES, back_off_s
from headwater.serde.errors import RegistryError, RegistryUnreachableError

if TYPE_CHECKING:
    from headwater.clients.registry_access import RegistryAccess

CONTENT_TYPE = "application/vnd.schemaregistry.v1+json"

_MAX_IDLE = 8


class RegistryHttp:
    """Sends requests to the first address that answers, from any thread.

    All requests of the registry's API can be repeated safely: registering a schema twice gives
    the same id. So whatever fails on the way is tried again, at the next address first.
    """

    def __init__(self, access: RegistryAccess) -> None:
        # Reading the system's certificates takes time, which plain HTTP should not cost.
        is_secure = any(url.lower().startswith("https:") for url in access.urls)
        tls = access.tls() if is_secure else None
        self._nodes = [_Node(url, access, tls) for url in access.urls]
        self._retries = access.retries
        self._preferred = 0

    def request(self, method: str, path: str, body: object = None) -> Any:
        """Return the JSON that the registry answers; raises RegistryError if it refuses."""
        data = None if body is None else json.dumps(body).encode()
        failures: dict[str, str] = {}
        for attempt in range(self._retries + 1):
            if attempt:
                time.sleep(back_off_s(attempt))
            for turn in range(len(self._nodes)):
                number = (self._preferred + turn) % len(self._nodes)
                node = self._nodes[number]
                try:
                    status, answer = node.send(method, path, data)
                except ssl.SSLCertVerificationError as failure:
                    raise RegistryUnreachableError(
                        f"the certificate of {node.url} is not trusted: {failure.verify_message}. "
                        "Give the CA's certificate as ca_file, or as --registry-ca"
                    ) from failure
                except (OSError, http.client.HTTPException) as failure:
                    failures[node.url] = _reason(failure)
                    continue
                self._preferred = number
                if status in PASSING_STATUSES and attempt < self._retries:
                    continue
                return _parse(node.url, status, answer)
        tried = "; ".join(f"{url}: {reason}" for url, reason in failures.items())
        raise RegistryUnreachableError(
            f"no schema registry answered ({tried}). Is it running, and is the address right?"
        )

    def close(self) -> None:
        """Close the idle connections; the object can still be used."""
        for node in self._nodes:
            node.close()


class _Node:
    """One address of the registry and the connections to it that nobody uses at the moment."""

    def __init__(self, url: str, access: RegistryAccess, tls: ssl.SSLContext | None) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"'{url}' is no address of a registry, such as http://localhost:8081")
        self._host = parts.hostname
        self._port = parts.port or (443 if parts.scheme == "https" else 80)
        self._base = parts.path.rstrip("/")
        self._tls = tls if parts.scheme == "https" else None
        self._timeout_s = access.timeout_s
        host = f"[{self._host}]" if ":" in self._host else self._host
        self.url = f"{parts.scheme}://{host}:{self._port}{self._base}"
        self._headers = {"Accept": CONTENT_TYPE, "Content-Type": CONTENT_TYPE}
        in_url = None if parts.username is None else unquote(parts.username)
        self._headers |= access.authorization(in_url, unquote(parts.password or ""))
        self._idle: list[http.client.HTTPConnection] = []
        self._lock = threading.Lock()

    def send(self, method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
        while True:
            connection = self._take()
            is_reused = connection.sock is not None
            try:
                connection.request(method, self._base + path, body, self._headers)
                response = connection.getresponse()
                answer = response.read()
            except BaseException as failure:
                connection.close()
                # The server closes connections that were idle for long; that is no failure yet.
                if is_reused and isinstance(failure, ConnectionError):
                    continue
                raise
            self._give_back(connection)
            return response.status, answer

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _take(self) -> http.client.HTTPConnection:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        if self._tls is not None:
            return http.client.HTTPSConnection(
                self._host, self._port, timeout=self._timeout_s, context=self._tls
            )
        return http.client.HTTPConnection(self._host, self._port, timeout=self._timeout_s)

    def _give_back(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if connection.sock is not None and len(self._idle) < _MAX_IDLE:
                self._idle.append(connection)
                return
        connection.close()


def _parse(url: str, status: int, answer: bytes) -> Any:
    try:
        parsed = json.loads(answer) if answer else None
    except ValueError:
        parsed = answer
    if 200 <= status < 300 and not isinstance(parsed, bytes):
        return parsed
    if isinstance(parsed, dict):
        code = parsed.get("error_code", status)
        message = str(parsed.get("message", "the registry gave no reason"))
        raise RegistryError(url, status, code, message.rstrip("."))
    text = answer[:200].decode("utf-8", "replace").strip()
    if status == 401:
        text = "the registry wants a user name and a password, or a token"
    raise RegistryError(url, status, status, text or http.client.responses.get(status, ""))


def _reason(failure: OSError | http.client.HTTPException) -> str:
    if isinstance(failure, OSError) and failure.strerror:
        return failure.strerror
    return str(failure) or type(failure).__name__
