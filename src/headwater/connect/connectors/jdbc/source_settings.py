"""The properties of the JDBC source, under the names of Confluent's connector."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING

from headwater.config import (
    ConfigDef,
    ConfigType,
    Definitions,
    Importance,
    Validator,
    at_least,
    one_of,
)
from headwater.connect.connectors.connector import FieldError
from headwater.connect.connectors.jdbc.column_types import NumericMapping
from headwater.connect.connectors.jdbc.settings import DATABASE_DEFINITIONS, check_database

if TYPE_CHECKING:
    from headwater.config import Values


class Mode(StrEnum):
    """How news is found."""

    BULK = "bulk"
    INCREMENTING = "incrementing"
    TIMESTAMP = "timestamp"
    TIMESTAMP_INCREMENTING = "timestamp+incrementing"

    @property
    def has_number(self) -> bool:
        """Whether rows are counted by a column."""
        return self in (Mode.INCREMENTING, Mode.TIMESTAMP_INCREMENTING)

    @property
    def has_time(self) -> bool:
        """Whether a column tells when a row was changed."""
        return self in (Mode.TIMESTAMP, Mode.TIMESTAMP_INCREMENTING)


def _is_pattern_list(patterns: tuple[str, ...]) -> bool:
    try:
        return all(re.compile(each) for each in patterns)
    except re.error:
        return False


_PATTERNS = Validator("regular expressions", lambda value: value is None or _is_pattern_list(value))
_HIGH, _LOW = Importance.HIGH, Importance.LOW

SOURCE_DEFINITIONS = Definitions(
    "JdbcSource",
    *DATABASE_DEFINITIONS,
    ConfigDef(
        "mode",
        ConfigType.STRING,
        None,
        "How news is found: `bulk` reads whole tables each time, `incrementing` takes rows with "
        "higher numbers, `timestamp` rows with later times, and `timestamp+incrementing` looks at "
        "both.",
        one_of(*(mode.value for mode in Mode)),
        importance=_HIGH,
    ),
    ConfigDef(
        "incrementing.column.name",
        ConfigType.STRING,
        "",
        "The column that only grows. Without it, the one that the database counts up by itself.",
    ),
    ConfigDef(
        "timestamp.column.name",
        ConfigType.LIST,
        (),
        "The column with the time of a row's last change; of several, the first that is not null.",
    ),
    ConfigDef(
        "timestamp.initial",
        ConfigType.LONG,
        None,
        "From which time on rows are read at first, in milliseconds since 1970; -1 is now.",
        at_least(-1),
        importance=_LOW,
    ),
    ConfigDef(
        "timestamp.delay.interval.ms",
        ConfigType.LONG,
        0,
        "How old a row's time has to be before it is read. A transaction that takes less than this "
        "from a row's time to its commit loses no row.",
        at_least(0),
        importance=_HIGH,
    ),
    ConfigDef(
        "validate.non.null",
        ConfigType.BOOLEAN,
        True,
        "Refuse tables whose incrementing or timestamp column may be null: such rows are not seen.",
        importance=_LOW,
    ),
    ConfigDef("table.whitelist", ConfigType.LIST, (), "The tables to read, no others."),
    ConfigDef("table.blacklist", ConfigType.LIST, (), "Tables not to read."),
    ConfigDef(
        "table.include.list",
        ConfigType.LIST,
        (),
        "Regular expressions of full names (database.table, schema.table) of the tables to read.",
        _PATTERNS,
    ),
    ConfigDef(
        "table.exclude.list",
        ConfigType.LIST,
        (),
        "Regular expressions of full names of tables not to read.",
        _PATTERNS,
    ),
    ConfigDef(
        "table.types",
        ConfigType.LIST,
        ("TABLE",),
        "Kinds of tables to read, such as TABLE and VIEW.",
        importance=_LOW,
    ),
    ConfigDef(
        "catalog.pattern",
        ConfigType.STRING,
        None,
        "The catalog (in MariaDB: the database) with the tables; by default, the connection's.",
        importance=_LOW,
    ),
    ConfigDef(
        "schema.pattern", ConfigType.STRING, None, "The schema with the tables.", importance=_LOW
    ),
    ConfigDef(
        "query",
        ConfigType.STRING,
        "",
        "Read the result of this query instead of tables; its records go to `topic.prefix` itself.",
    ),
    ConfigDef(
        "query.suffix",
        ConfigType.STRING,
        "",
        "What to put at the end of each query, such as FOR SHARE.",
        importance=_LOW,
    ),
    ConfigDef(
        "poll.interval.ms",
        ConfigType.INT,
        5000,
        "How often to look for new rows.",
        at_least(1),
        importance=_HIGH,
    ),
    ConfigDef(
        "table.poll.interval.ms",
        ConfigType.LONG,
        60_000,
        "How often to look for new tables.",
        at_least(1),
        importance=_LOW,
    ),
    ConfigDef(
        "batch.max.rows",
        ConfigType.INT,
        1000,
        "How many rows the database sends at a time.",
        at_least(1),
        importance=_LOW,
    ),
    ConfigDef(
        "transaction.max.rows",
        ConfigType.INT,
        500_000,
        "How many rows of a table are taken at once, to be written in one transaction.",
        at_least(1),
        importance=_LOW,
    ),
    ConfigDef(
        "topic.prefix",
        ConfigType.STRING,
        "",
        "What topics are called: this, and the table's name.",
        importance=_HIGH,
    ),
    ConfigDef(
        "numeric.mapping",
        ConfigType.STRING,
        None,
        "What NUMERIC and DECIMAL become: Decimals (`none`), integers where there are no decimals "
        "(`precision_only`), and doubles else (`best_fit`, for up to 18 digits; "
        "`best_fit_eager_double`, always).",
        one_of(*(mapping.value for mapping in NumericMapping)),
        importance=_LOW,
    ),
    ConfigDef(
        "numeric.precision.mapping",
        ConfigType.BOOLEAN,
        False,
        "The older way to say `numeric.mapping=precision_only`.",
        importance=_LOW,
    ),
)


def check_source(config: Values) -> list[FieldError]:
    """Return what is wrong with the properties together."""
    errors = check_database(config)
    mode = config.text("mode")
    if mode is None:
        choices = ", ".join(Mode)
        errors.append(FieldError("mode", f"a mode is needed, one of {choices}"))
    elif Mode(mode).has_time and not config.words("timestamp.column.name"):
        errors.append(
            FieldError("timestamp.column.name", f"mode={mode} needs the column, such as updated_at")
        )
    lists = [name for name in _LISTS if config.words(name)]
    if lists[:2] == ["table.whitelist", "table.blacklist"]:
        message = "give table.whitelist or table.blacklist, not both"
        errors += [FieldError(name, message) for name in lists[:2]]
    if config.text("query") and lists:
        message = f"give query or {lists[0]}, not both"
        errors += [FieldError("query", message), FieldError(lists[0], message)]
    if config.text("query") and not config.text("topic.prefix"):
        errors.append(FieldError("topic.prefix", "a query's topic is needed, such as orders"))
    return errors


def numeric_mapping(config: Values) -> NumericMapping:
    """Return what becomes of NUMERIC columns, said in the newer way or in the older."""
    given = config.text("numeric.mapping")
    if given is not None:
        return NumericMapping(given)
    older = config.boolean("numeric.precision.mapping")
    return NumericMapping.PRECISION_ONLY if older else NumericMapping.NONE


_LISTS = ("table.whitelist", "table.blacklist", "table.include.list", "table.exclude.list")
