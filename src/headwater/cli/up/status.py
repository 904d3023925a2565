"""`headwater up --status`: how the services of a platform are."""

from __future__ import annotations

import http.client
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from headwater.cli.errors import CommandError
from headwater.cli.output import print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from headwater.up.running import RunningPlatform

_ANSWER_WITHIN_S = 10.0
_COLUMNS = ("SERVICE", "STATE", "FOR", "PID", "RESTARTS", "LISTENS ON", "REASON")


def show_status(data: Path, *, as_json: bool) -> int:
    """Print how all services are; the exit code is 0 if all are well, and else 1."""
    from headwater.up.running import running_in

    platform = running_in(data)
    if platform is None:
        raise CommandError(
            f"no platform runs in {data}. Start one with: headwater up; or name its directory "
            "with --data"
        )
    document = ask_status(platform)
    if as_json:
        print_json(document)
    else:
        print_table(_COLUMNS, [row for each in document["services"] for row in _rows(each)])
    return 0 if document["healthy"] else 1


def ask_status(platform: RunningPlatform) -> Any:
    """Return a platform's status; raises CommandError if it does not answer."""
    url = platform.status_url
    connection, credentials = _connection(platform)
    try:
        connection.request("GET", "/", headers={"Accept": "application/json", **credentials})
        answer = connection.getresponse()
        body = answer.read()
    except OSError as failure:
        raise CommandError(f"{url} does not answer: {failure.strerror or failure}") from None
    finally:
        connection.close()
    if answer.status != 200:
        raise CommandError(f"{url} answers with HTTP {answer.status}; is it a platform's status?")
    return json.loads(body)


def _connection(
    platform: RunningPlatform,
) -> tuple[http.client.HTTPConnection, dict[str, str]]:
    parts = urlsplit(platform.status_url)
    host, port = parts.hostname or "", parts.port
    if platform.security is None:
        return http.client.HTTPConnection(host, port, timeout=_ANSWER_WITHIN_S), {}
    import ssl

    from headwater.clients import RegistryAccess
    from headwater.config.properties import parse_properties
    from headwater.security.kit import ADMIN, SecurityKit

    kit = SecurityKit(platform.security)
    try:
        password = parse_properties(kit.user(ADMIN).secrets.read_text("utf-8"))["password"]
        tls = ssl.create_default_context(cafile=str(kit.authority))
    except OSError as failure:
        raise CommandError(
            f"{failure.filename or kit.authority}: {failure.strerror}. The status of a secured "
            "platform is for its owner"
        ) from None
    credentials = RegistryAccess((), username=ADMIN, password=password).authorization()
    secured = http.client.HTTPSConnection(host, port, timeout=_ANSWER_WITHIN_S, context=tls)
    return secured, credentials


def _rows(service: dict[str, Any]) -> Iterator[tuple[object, ...]]:
    for place in service["endpoints"]:
        yield (
            place["name"],
            service["state"],
            _duration(service["since"]),
            service["pid"],
            service["restarts"],
            place["address"],
            service["reason"] or service["last_exit"],
        )


def _duration(since: str) -> str:
    seconds = int((datetime.now(UTC) - datetime.fromisoformat(since)).total_seconds())
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{max(seconds, 0)} s"
