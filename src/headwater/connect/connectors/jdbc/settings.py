"""The properties that the JDBC source and sink share: which database, and how to log in."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, available_timezones

from headwater.config import NOT_EMPTY, ConfigDef, ConfigType, Importance, Validator
from headwater.connect.connectors.connector import ConnectorError, FieldError
from headwater.connect.connectors.jdbc.dialects.known import dialect_of

if TYPE_CHECKING:
    from headwater.config import Values

ZONE = Validator(
    "the name of a time zone, such as UTC or Europe/Zurich",
    lambda value: value is None or value in available_timezones(),
)

DATABASE_DEFINITIONS = (
    ConfigDef(
        "connection.url",
        ConfigType.STRING,
        None,
        "The database, such as jdbc:mariadb://localhost:3306/shop, "
        "jdbc:postgresql://localhost/shop or jdbc:sqlite:/var/lib/shop.db. `jdbc:mysql:` is taken, "
        "too.",
        NOT_EMPTY,
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "connection.user",
        ConfigType.STRING,
        None,
        "The user to log in as.",
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "connection.password",
        ConfigType.PASSWORD,
        None,
        "The user's password.",
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "driver.coordinate",
        ConfigType.STRING,
        None,
        "The driver of a database that is not known here, as group:artifact:version; it is fetched "
        "on first use.",
        importance=Importance.LOW,
    ),
    ConfigDef(
        "driver.class",
        ConfigType.STRING,
        None,
        "That driver's class.",
        importance=Importance.LOW,
    ),
    ConfigDef(
        "db.timezone",
        ConfigType.STRING,
        "UTC",
        "The time zone of times that have none of their own.",
        ZONE,
    ),
    ConfigDef(
        "quote.sql.identifiers",
        ConfigType.STRING,
        "always",
        "Whether names of tables and columns are put in quotes.",
        Validator("always or never", lambda value: value is None or value in ("always", "never")),
    ),
)


def check_database(config: Values) -> list[FieldError]:
    """Return what is wrong with the address of the database."""
    url = config.text("connection.url")
    if url is None:
        example = "jdbc:mariadb://localhost:3306/shop"
        return [FieldError("connection.url", f"a database is needed, such as {example}")]
    try:
        dialect_of(url, config.text("driver.coordinate"), config.text("driver.class"))
    except ConnectorError as failure:
        return [FieldError("connection.url", str(failure))]
    return []


def time_zone(config: Values) -> ZoneInfo:
    """Return the time zone of times that have none."""
    return ZoneInfo(config.text("db.timezone") or "UTC")
