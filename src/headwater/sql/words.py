"""The words of the language: which ones can be names, and which need quotes to be one."""

from __future__ import annotations

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Without quotes these are never a name: a statement is read by them.
RESERVED = _words(
    """
    AND AS BETWEEN BY CASE CAST CREATE DESCRIBE DISTINCT DROP ELSE END EXISTS FALSE FROM FULL
    GROUP HAVING IN INNER INSERT INTO IS JOIN LEFT LIKE LIMIT NOT NULL ON OR OUTER RIGHT SELECT
    STREAM TABLE THEN TRUE VALUES WHEN WHERE WINDOW WITH WITHIN
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
    ADD ADVANCE ALL ALTER ARRAY ASSERT BEGINNING CHANGES COLUMN CONNECTOR CONNECTORS DEFINE
    DELETE EMIT ESCAPE EXPLAIN EXTENDED FINAL FUNCTION FUNCTIONS GRACE HEADER HEADERS HOPPING ID
    IF INTERVAL KEY LIST MAP OFF PARTITION PAUSE PERIOD PLUGINS PRIMARY PRINT PROPERTIES QUERIES
    REPLACE RESUME RETENTION RUN SAMPLE SCHEMA SCRIPT SESSION SET SHOW SINK SIZE SOURCE SPOOL
    STREAMS STRUCT SUBJECT SYSTEM TABLES TERMINATE TIMEOUT TOPIC TOPICS TUMBLING TYPE TYPES
    UNDEFINE UNSET VARIABLES
    """
).union(TIME_UNITS)

KEYWORDS = RESERVED | NOT_RESERVED

# Not reserved, but a statement would be read otherwise if one of these stood for a name in it.
_AMBIGUOUS = _words(
    """
    ALL ALTER ARRAY ASSERT COLUMN CONNECTOR DEFINE EMIT EXPLAIN EXTENDED FUNCTION IF LIST MAP
    OFF PARTITION PAUSE PRINT RESUME RUN SET SHOW SPOOL STREAMS STRUCT TABLES TERMINATE UNDEFINE
    UNSET
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
