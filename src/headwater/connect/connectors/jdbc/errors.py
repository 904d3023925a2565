"""What a database's errors mean for a connector: come back later, or change something first."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from headwater.connect.connectors.connector import ConnectorError, RetriableError

if TYPE_CHECKING:
    from collections.abc import Iterator

# Classes of SQLSTATE that no waiting cures: a value, a constraint, a login, a name, the SQL itself.
_FOR_GOOD = ("0A", "21", "22", "23", "28", "2F", "34", "3D", "3F", "42", "44")


@contextmanager
def database_errors(doing: str) -> Iterator[None]:
    """Raise what fails in here as ConnectorError or RetriableError, in one line."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException) as failure:
        raise _meaning(doing, failure) from failure


def _meaning(doing: str, failure: Exception) -> ConnectorError:
    java = getattr(failure, "java_exception", None) or getattr(failure, "_origin", None)
    if "[USER_RAISED_EXCEPTION]" in str(failure):  # by the SQL of a connector
        found = re.search(r"\[USER_RAISED_EXCEPTION\] (.+?)(?: SQLSTATE|\n|$)", str(failure))
        return ConnectorError(f"{doing}: {found[1] if found else failure}")
    sql = next((each for each in _causes(java) if _is_sql(each)), None)
    if sql is None:
        last = next(reversed(list(_causes(java))), None)
        reason = failure if last is None else last.toString()
        return RetriableError(f"{doing}: {_first_line(reason)}")
    state = sql.getSQLState() or ""
    message = f"{doing}: {_first_line(sql.getMessage())}"
    return (ConnectorError if state.startswith(_FOR_GOOD) else RetriableError)(message)


def _causes(java: Any) -> Iterator[Any]:
    while java is not None:
        yield java
        java = java.getCause()


def _is_sql(java: Any) -> bool:
    kind = java.getClass()
    while kind is not None:
        if kind.getName() == "java.sql.SQLException":
            return True
        kind = kind.getSuperclass()
    return False


def _first_line(text: object) -> str:
    lines = str(text).strip().splitlines()
    return lines[0] if lines else "no reason was given"
