"""The words of the language: which ones can be names, and which need quotes to be one."""

from __future__ import annotations

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Without quotes these are never a name: a statement is read by them.
RESERVED = _words(
    """
    ALL AND AS BEGINNING BETWEEN BY CASE CAST CREATE DELETE DESCRIBE DISTINCT DROP ELSE END EXISTS
    EXTENDED FALSE FROM FULL GROUP HAVING IN INNER INSERT INTO IS JOIN LEFT LIKE LIMIT LIST NOT
    NULL ON OR OUTER PRINT QUERIES RIGHT RUN SCRIPT SELECT STREAM STREAMS TABLE TERMINATE THEN
    TOPIC TOPICS TRUE UNSET VALUES WHEN WHERE WINDOW WITH WITHIN
    """
)

TIME_UNITS = tuple(
    f"{unit}{plural}"
    for unit in ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND")
    for plural in ("", "S")
)

# These mean something only where the language expects them, and are names elsewhere.
NOT_RESERVED = _words(
    """
    ADD ADVANCE ALTER ARRAY ASSERT CHANGES COLUMN CONNECTOR CONNECTORS DEFINE EMIT ESCAPE
    EXPLAIN FINAL FUNCTION FUNCTIONS GRACE HEADER HEADERS HOPPING ID IF INTERVAL KEY MAP OFF
    PARTITION PAUSE PERIOD PLUGINS PRIMARY PROPERTIES REPLACE RESUME RETENTION SAMPLE SCHEMA
    SESSION SET SHOW SINK SIZE SOURCE SPOOL STRUCT SUBJECT SYSTEM TABLES TIMEOUT TUMBLING TYPE
    TYPES UNDEFINE VARIABLES
    """
).union(TIME_UNITS)

KEYWORDS = RESERVED | NOT_RESERVED

# Not reserved, but a statement would be read otherwise if one of these stood for a name in it.
_AMBIGUOUS = _words(
    """
    ALTER ARRAY ASSERT COLUMN CONNECTOR DEFINE EMIT EXPLAIN FUNCTION IF MAP OFF PARTITION PAUSE
    RESUME SET SHOW SPOOL STRUCT TABLES UNDEFINE
    """
)
_PLAIN_NAME = re.compile(r"[A-Z_][A-Z0-9_]*")


def quoted(name: str) -> str:
    """Return a name as a statement has to write it: in backticks unless it is a plain name."""
    if _PLAIN_NAME.fullmatch(name) and name not in RESERVED and name not in _AMBIGUOUS:
        return name
    return "`" + name.replace("`", "``") + "`"


def text_literal(value: str) -> str:
    """Return a text in single quotes."""
    return "'" + value.replace("'", "''") + "'"
