"""Asks a Connect worker, ours or Kafka's, by HTTP."""

from __future__ import annotations

import functools
import http.client
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import click

from headwater.cli.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Callable

DEFAULT_URL = "http://localhost:8083"

_TIMEOUT_S = 90.0  # as long as Kafka Connect takes for an answer
_ACCEPTED = 400


class ConnectClient:
    """A worker's REST API; every failure is a CommandError."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """Return what the worker answers; raises CommandError with its reason if it refuses."""
        parts = urlsplit(self._url)
        kind = (
            http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        )
        connection = kind(parts.hostname or "", parts.port, timeout=_TIMEOUT_S)
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body)
        try:
            connection.request(method, f"{parts.path}{path}", data, headers)
            answer = connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException) as failure:
            raise CommandError(
                f"no Connect worker answers at {self._url} ({failure}); start one with "
                "`headwater connect worker`, or name another with --url"
            ) from None
        finally:
            connection.close()
        parsed = _parsed(text)
        if answer.status >= _ACCEPTED:
            said = parsed.get("message") if isinstance(parsed, dict) else None
            raise CommandError(str(said or f"{method} {path}: HTTP {answer.status}"))
        return parsed


def connector_path(name: str, *more: str) -> str:
    """Return the path of a connector, or of something that it has."""
    return "/".join(["/connectors", quote(name, safe=""), *more])


def url_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command --url, handed over as `client`."""

    @click.option(
        "--url",
        metavar="URL",
        default=DEFAULT_URL,
        show_default=True,
        envvar="HEADWATER_CONNECT",
        show_envvar=True,
        help="A Connect worker, ours or Kafka's.",
    )
    @functools.wraps(command)
    def asking(*args: Any, url: str, **kwargs: Any) -> Any:
        return command(*args, client=ConnectClient(url), **kwargs)

    return asking


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
