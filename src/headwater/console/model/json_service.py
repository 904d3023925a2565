"""A service that answers with JSON: the monitor, the platform's status, Connect, a SQL server."""

from __future__ import annotations

import json
from http.client import HTTPException
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPSHandler, ProxyHandler, Request, build_opener

from headwater.clients.errors import ClientError

if TYPE_CHECKING:
    from headwater.clients import RegistryAccess

_WITHIN_S = 3.0
_MOST_BYTES = 64 * 1024 * 1024
JSON = "application/json"


class RefusedError(ClientError):
    """A service has answered that it will not; the message is its own."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class JsonService:
    """Asks one address; it may come and go."""

    def __init__(self, name: str, url: str, access: RegistryAccess | None = None) -> None:
        self.name = name
        self.url = url
        self._headers = {} if access is None else access.authorization()
        handlers: list[Any] = [ProxyHandler({})]  # no proxy stands before this machine
        if access is not None and url.startswith("https:"):
            handlers.append(HTTPSHandler(context=access.tls()))
        self._opener = build_opener(*handlers)

    def get(self, path: str) -> Any:
        """Return what a path holds; None where there is none. Raises ClientError."""
        try:
            return self.ask("GET", path)
        except RefusedError as refusal:
            if refusal.status == 404:
                return None
            raise

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        within_s: float = _WITHIN_S,
        media_type: str = JSON,
    ) -> Any:
        """Return what is answered, None where it is nothing; raises ClientError, RefusedError."""
        with self.open(method, path, body, within_s=within_s, media_type=media_type) as answer:
            try:
                text = answer.read(_MOST_BYTES)
                return json.loads(text) if text.strip() else None
            except (OSError, HTTPException, ValueError) as failure:
                raise self._silence(failure) from failure

    def open(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        within_s: float = _WITHIN_S,
        media_type: str = JSON,
    ) -> Any:
        """Return an answer that is read as it comes, and closed by the caller."""
        headers = {**self._headers, "Accept": media_type, "Content-Type": media_type}
        data = None if body is None else json.dumps(body).encode()
        request = Request(f"{self.url}{path}", data, headers, method=method)
        try:
            return self._opener.open(request, timeout=within_s)
        except HTTPError as failure:
            raise self._refusal(failure) from failure
        except (URLError, OSError, HTTPException, ValueError) as failure:
            raise self._silence(failure) from failure

    def _refusal(self, failure: HTTPError) -> RefusedError:
        with failure:
            try:
                said = json.loads(failure.read(_MOST_BYTES))["message"]
            except (OSError, HTTPException, ValueError, KeyError, TypeError):
                said = f"the {self.name} at {self.url} said {failure.code}"
        return RefusedError(str(said), failure.code)

    def _silence(self, failure: Exception) -> ClientError:
        reason = getattr(failure, "reason", None) or failure
        return ClientError(f"the {self.name} at {self.url} does not answer ({reason})")
