"""The databases that are known, by their URLs."""

from __future__ import annotations

from headwater.connect.connectors.connector import ConnectorError
from headwater.connect.connectors.jdbc.dialects.dialect import Dialect
from headwater.connect.connectors.jdbc.dialects.mysql import MySqlDialect
from headwater.connect.connectors.jdbc.dialects.postgresql import PostgreSqlDialect
from headwater.connect.connectors.jdbc.dialects.sqlite import SqliteDialect

DIALECTS: tuple[Dialect, ...] = (MySqlDialect(), PostgreSqlDialect(), SqliteDialect())


def dialect_of(url: str, coordinate: str | None = None, driver_class: str | None = None) -> Dialect:
    """Return the dialect of a URL, or the standard's for a driver that is named.

    >>> dialect_of("jdbc:mysql://localhost/shop").name
    'MySqlDatabaseDialect'
    """
    known = next((each for each in DIALECTS if url.startswith(each.url_prefixes)), None)
    if known is not None:
        return known
    if coordinate and driver_class:
        return Dialect(coordinate=coordinate, driver_class=driver_class)
    prefixes = ", ".join(prefix for each in DIALECTS for prefix in each.url_prefixes)
    raise ConnectorError(
        f"connection.url must begin with one of {prefixes}; for another database, name its driver "
        "with driver.coordinate and driver.class"
    )
