"""The lines of a process's log: text for people, or JSON for programs that collect them."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

VARIABLE = "HEADWATER_LOG_FORMAT"
"""Where the form is kept, so that processes take it from whoever starts them."""
_ODD = re.compile(r"[\0-\x08\n-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters but for tabs, other ends of lines, directions, and halves of characters."""


class LogFormat(StrEnum):
    """The form of a log."""

    TEXT = "text"
    JSON = "json"


def log_format() -> LogFormat:
    """Return the form that this process was told to use; text, unless it was told otherwise."""
    return LogFormat.JSON if os.environ.get(VARIABLE) == LogFormat.JSON else LogFormat.TEXT


def start_logging() -> None:
    """Log to the standard error output from now on."""
    handler = logging.StreamHandler(sys.stderr)
    if log_format() is LogFormat.JSON:
        handler.setFormatter(JsonFormatter())
    else:
        handler.setFormatter(TextFormatter())
    logging.basicConfig(level=logging.INFO, handlers=[handler])


class TextFormatter(logging.Formatter):
    """Writes each record as one line, whatever names clients have chosen; a traceback is indented.

    What would begin a new line, move a cursor or turn the direction of text is written as Python
    writes it, so that nobody can make up lines of their own.
    """

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        """Return the line."""
        return _quoted(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:  # noqa: N802
        """Return a traceback, none of whose lines can be taken for a record."""
        lines = super().formatException(ei).split("\n")
        return "\n".join(f"  {_quoted(line)}" for line in lines)


class JsonFormatter(logging.Formatter):
    """Writes each record as one line of JSON, whatever is in its text."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        fields: dict[str, Any] = {
            "timestamp": timestamp(record.created),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        return json.dumps(fields)


def _quoted(text: str) -> str:
    return _ODD.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def timestamp(seconds: float) -> str:
    """Return a time as lines of JSON have it.

    >>> timestamp(0.25)
    '1970-01-01T00:00:00.250Z'
    """
    moment = datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)
    return f"{moment.isoformat(timespec='milliseconds')}Z"
