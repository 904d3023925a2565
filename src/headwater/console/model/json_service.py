"""A service that answers with JSON: the monitor, and the platform's status."""

from __future__ import annotations

import json
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import ProxyHandler, build_opener

from headwater.clients.errors import ClientError

_WITHIN_S = 3.0
_MOST_BYTES = 64 * 1024 * 1024


class JsonService:
    """Asks one address; it may come and go."""

    def __init__(self, name: str, url: str) -> None:
        self.name = name
        self.url = url
        self._opener = build_opener(ProxyHandler({}))  # no proxy stands before this machine

    def get(self, path: str) -> Any:
        """Return what a path holds; None where there is none. Raises ClientError."""
        try:
            with self._opener.open(f"{self.url}{path}", timeout=_WITHIN_S) as answer:
                return json.loads(answer.read(_MOST_BYTES))
        except HTTPError as failure:
            failure.close()
            if failure.code == 404:
                return None
            raise ClientError(f"the {self.name} at {self.url} said {failure.code}") from failure
        except (URLError, OSError, HTTPException, ValueError) as failure:
            reason = getattr(failure, "reason", None) or failure
            raise ClientError(
                f"the {self.name} at {self.url} does not answer ({reason})"
            ) from failure
