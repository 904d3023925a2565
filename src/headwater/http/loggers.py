"""The levels of a service's loggers, shown and set while it runs, as Kafka Connect does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from headwater.http.answers import JSON, Answer, encode
from headwater.http.errors import HttpError, bad_request
from headwater.logs import levels

if TYPE_CHECKING:
    from collections.abc import Sequence

PATH = ("admin", "loggers")


def answer(method: str, segments: Sequence[str], body: bytes) -> Answer:
    """Answer /admin/loggers and /admin/loggers/NAME; raises HttpError."""
    known, name = levels.levels(), segments[2] if segments[2:] else None
    if segments[3:] or (name is not None and name not in known):
        raise HttpError(404, 404, f"Logger {'/'.join(segments[2:])} not found.")
    if method == "GET":
        shown = {each: {"level": level, "last_modified": None} for each, level in known.items()}
        return Answer(encode(shown if name is None else shown[name]), content_type=JSON)
    if method != "PUT" or name is None:
        raise HttpError(405, 405, "HTTP 405 Method Not Allowed")
    levels.set_level(name, _level(name, body))
    changed = [each for each in known if _is_below(each, name)]
    return Answer(encode(changed), content_type=JSON)


def _level(name: str, body: bytes) -> str:
    try:
        level = json.loads(body)["level"]
    except (ValueError, TypeError, KeyError):
        raise bad_request('The body has to be {"level": "DEBUG"}') from None
    try:
        levels.check_level(name, str(level).upper())
    except levels.UnknownLevelError as failure:
        raise HttpError(404, 404, f"Invalid level: {failure}") from None
    return str(level).upper()


def _is_below(name: str, parent: str) -> bool:
    return parent in (levels.ROOT, name) or name.startswith(f"{parent}.")
