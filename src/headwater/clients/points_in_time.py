"""Points in time as people write them: a date, epoch milliseconds, or how long ago."""

from __future__ import annotations

import re
from datetime import UTC, datetime

MAX_TIMESTAMP = (1 << 63) - 1
UNITS_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


def parse_time(text: str, now_ms: int) -> int:
    """Return epoch milliseconds for any of the notations; a date without a zone is in UTC."""
    if text.isascii() and text.isdigit():
        if int(text) > MAX_TIMESTAMP:
            raise ValueError(f"'{text}' is too large for a time in epoch milliseconds")
        return int(text)
    if ago := re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", text):
        return now_ms - int(float(ago[1]) * UNITS_MS[ago[2]])
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(
            f"'{text}' is no time: give epoch milliseconds, a date such as 2026-05-01T10:00:00Z, "
            "or how long ago (30s, 15m, 2h, 1d)"
        ) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    milliseconds = int(moment.timestamp() * 1000)
    if milliseconds < 0:
        raise ValueError(f"'{text}' is before 1970, where Kafka's timestamps start")
    return milliseconds
