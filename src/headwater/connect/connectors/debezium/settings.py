"""The properties that the connectors of all databases have, under Debezium's names."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING

from headwater.config import (
    NOT_EMPTY,
    ConfigDef,
    ConfigType,
    Importance,
    Validator,
    at_least,
    between,
    list_of,
    one_of,
)
from headwater.connect.connectors.connector import FieldError

if TYPE_CHECKING:
    from headwater.config import Values


class SnapshotMode(StrEnum):
    """Whether, and when, the rows that are there already are read."""

    ALWAYS = "always"
    INITIAL = "initial"
    INITIAL_ONLY = "initial_only"
    WHEN_NEEDED = "when_needed"
    NO_DATA = "no_data"
    NEVER = "never"

    @property
    def reads_rows(self) -> bool:
        """Whether rows are read where there is no offset yet."""
        return self not in (SnapshotMode.NO_DATA, SnapshotMode.NEVER)


_HIGH, _LOW = Importance.HIGH, Importance.LOW
_OPERATIONS = ("c", "u", "d", "t", "none")


def _are_patterns(patterns: tuple[str, ...]) -> bool:
    try:
        return all(re.compile(each) for each in patterns)
    except re.error:
        return False


_PATTERNS = Validator("regular expressions", lambda value: value is None or _are_patterns(value))


def lists(what: str, names: str) -> tuple[ConfigDef, ConfigDef]:
    """Return the two lists that choose databases, schemas, tables or columns."""
    return (
        ConfigDef(
            f"{what}.include.list",
            ConfigType.LIST,
            (),
            f"Regular expressions of {names} that are captured; without any, all are.",
            _PATTERNS,
        ),
        ConfigDef(
            f"{what}.exclude.list",
            ConfigType.LIST,
            (),
            f"Regular expressions of {names} that are not captured.",
            _PATTERNS,
        ),
    )


def common_definitions(port: int, table: str, times: tuple[str, ...]) -> tuple[ConfigDef, ...]:
    """Return the properties; `table` is a full name, `times` the modes with the default first."""
    return (
        ConfigDef(
            "database.hostname",
            ConfigType.STRING,
            None,
            "The machine that the database is on.",
            NOT_EMPTY,
            importance=_HIGH,
        ),
        ConfigDef(
            "database.port", ConfigType.INT, port, "Its port.", between(1, 65535), importance=_HIGH
        ),
        ConfigDef("database.user", ConfigType.STRING, None, "Who logs in.", importance=_HIGH),
        ConfigDef(
            "database.password", ConfigType.PASSWORD, None, "The password.", importance=_HIGH
        ),
        ConfigDef(
            "topic.prefix",
            ConfigType.STRING,
            None,
            f"What topics' names begin with: a table's events go to `<prefix>.{table}`. Offsets "
            "are stored under it, too: do not change it later.",
            NOT_EMPTY,
            importance=_HIGH,
        ),
        *lists("table", f"full names ({table}) of tables"),
        *lists("column", f"full names ({table}.column) of columns"),
        ConfigDef(
            "snapshot.mode",
            ConfigType.STRING,
            SnapshotMode.INITIAL.value,
            "Whether the rows that are there are read before the changes: `initial`: the first "
            "time; `initial_only`: and no changes after them; `always`: at each start; "
            "`when_needed`: also when the log no longer reaches back to the offset; `no_data` and "
            "`never`: no.",
            one_of(*(mode.value for mode in SnapshotMode)),
            importance=_HIGH,
        ),
        ConfigDef(
            "tombstones.on.delete",
            ConfigType.BOOLEAN,
            True,
            "Whether a tombstone follows the event of a deleted row.",
        ),
        ConfigDef(
            "skipped.operations",
            ConfigType.LIST,
            ("t",),
            "What is not told: c (inserts), u (updates), d (deletes), t (truncates); or none.",
            list_of(*_OPERATIONS, may_be_empty=True),
            importance=_LOW,
        ),
        ConfigDef(
            "decimal.handling.mode",
            ConfigType.STRING,
            "precise",
            "What decimals become: Connect's Decimals, doubles, or text.",
            one_of("precise", "double", "string"),
        ),
        ConfigDef(
            "time.precision.mode",
            ConfigType.STRING,
            times[0],
            "What dates and times become: Debezium's types, to as many digits as the column has, "
            "or Connect's own, to the millisecond (`connect`).",
            one_of(*times),
        ),
        ConfigDef(
            "binary.handling.mode",
            ConfigType.STRING,
            "bytes",
            "What binary columns become: bytes, or text.",
            one_of("bytes", "base64", "base64-url-safe", "hex"),
            importance=_LOW,
        ),
        ConfigDef(
            "heartbeat.interval.ms",
            ConfigType.INT,
            0,
            "How often the position in the log is stored though no captured table has changed, "
            "with a record in the topic of heartbeats; 0: never.",
            at_least(0),
        ),
        ConfigDef(
            "topic.heartbeat.prefix",
            ConfigType.STRING,
            "__debezium-heartbeat",
            "The topic of heartbeats: this, a point, and `topic.prefix`.",
            NOT_EMPTY,
            importance=_LOW,
        ),
        ConfigDef(
            "poll.interval.ms", ConfigType.LONG, 500, "How often to look for changes.", at_least(1)
        ),
        ConfigDef(
            "max.batch.size",
            ConfigType.INT,
            2048,
            "How many rows of a snapshot, or changes, the database sends at a time.",
            at_least(1),
        ),
        ConfigDef(
            "transaction.max.rows",
            ConfigType.INT,
            50_000,
            "How many events are written in one transaction of Kafka's, about.",
            at_least(1),
            importance=_LOW,
        ),
    )


def check_common(config: Values) -> list[FieldError]:
    """Return what is missing, or wrong together."""
    needed = {
        "database.hostname": "localhost",
        "database.user": "connect",
        "topic.prefix": "shop",
    }
    errors = [
        FieldError(name, f"it is needed, such as {example}")
        for name, example in needed.items()
        if not config.text(name)
    ]
    kinds = {name.rsplit(".", 2)[0] for name in config if name.endswith(".include.list")}
    for kind in sorted(kinds):
        pair = [f"{kind}.include.list", f"{kind}.exclude.list"]
        if all(config.words(name) for name in pair):
            errors += [FieldError(name, f"give {pair[0]} or {pair[1]}, not both") for name in pair]
    return errors
