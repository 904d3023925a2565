"""Connections to PostgreSQL, and what their errors mean for a connector."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import psycopg

from headwater.connect.connectors.connector import ConnectorError, RetriableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from headwater.config import Values

# Values are read as text: here is how that is written.
_OPTIONS = (
    "-c TimeZone=UTC -c DateStyle=ISO -c IntervalStyle=iso_8601 -c bytea_output=hex "
    "-c extra_float_digits=1 -c lc_monetary=C -c client_encoding=UTF8"
)
# Classes of SQLSTATE that no waiting cures: a login, a right, a name, what is not supported.
_FOR_GOOD = ("0A", "22", "28", "3D", "3F", "42")


def connect(config: Values) -> psycopg.Connection[Any]:
    """Return a connection that commits each statement."""
    host, port = config.text("database.hostname"), config.integer("database.port")
    with database_errors(f"connecting to {host}:{port}"):
        return psycopg.connect(
            host=host,
            port=port,
            user=config.text("database.user"),
            password=config.text("database.password"),
            dbname=config.text("database.dbname"),
            sslmode=config.text("database.sslmode"),
            application_name="headwater",
            options=_OPTIONS,
            autocommit=True,
        )


def rows(
    connection: psycopg.Connection[Any], sql: str, values: Sequence[Any] = ()
) -> list[tuple[Any, ...]]:
    """Return all rows of a query."""
    with database_errors("asking the database"):
        return connection.execute(sql, values or None).fetchall()


def closed(connection: psycopg.Connection[Any]) -> None:
    """Close a connection, whatever it was doing."""
    with suppress(psycopg.Error):
        connection.close()


@contextmanager
def database_errors(doing: str) -> Iterator[None]:
    """Raise what fails in here as ConnectorError or RetriableError, in one line."""
    try:
        yield
    except psycopg.Error as failure:
        said = " ".join(str(failure).split())
        state = failure.sqlstate or ""
        kind = ConnectorError if state.startswith(_FOR_GOOD) else RetriableError
        if not state and "password authentication failed" in said:
            kind = ConnectorError
        raise kind(f"{doing}: {said}") from failure
