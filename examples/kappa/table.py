"""A topic as a table: the last record of each key is its row."""

from __future__ import annotations

from typing import Any

from examples.event_log import EventLog


def read_table(servers: str, topic: str) -> dict[str, dict[str, Any]]:
    """Return all rows as of now, in the order of their keys."""
    log = EventLog(servers, topic, "table")
    try:
        rows = {recorded.key: recorded.event for recorded in log.replay()}
    finally:
        log.close()
    return dict(sorted(rows.items()))
