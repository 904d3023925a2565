"""The properties of the Elasticsearch sink, under Confluent's names."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from headwater.config import (
    ConfigDef,
    ConfigType,
    Definitions,
    Importance,
    at_least,
    one_of_any_case,
)
from headwater.connect.connectors.connector import FieldError

if TYPE_CHECKING:
    from headwater.config import Values


class WriteMethod(StrEnum):
    """What becomes of a record's document."""

    INSERT = "insert"
    UPSERT = "upsert"


TRUST_STORE = "elastic.https.ssl.truststore.location"
KEY_STORE = "elastic.https.ssl.keystore.location"
KEY_PASSWORD = "elastic.https.ssl.key.password"

_HIGH, _LOW = Importance.HIGH, Importance.LOW

DEFINITIONS = Definitions(
    "ElasticsearchSink",
    ConfigDef(
        "connection.url",
        ConfigType.LIST,
        (),
        "The nodes of the cluster, such as http://localhost:9200; the next one is asked when one "
        "does not answer.",
        importance=_HIGH,
    ),
    ConfigDef("connection.username", ConfigType.STRING, "", "The user to log in as."),
    ConfigDef("connection.password", ConfigType.PASSWORD, None, "The user's password."),
    ConfigDef(
        TRUST_STORE,
        ConfigType.STRING,
        "",
        "A PEM file with the authorities to trust; without it, the system's.",
        importance=_HIGH,
    ),
    ConfigDef(
        KEY_STORE,
        ConfigType.STRING,
        "",
        "A PEM file with this client's certificate and its key.",
        importance=_HIGH,
    ),
    ConfigDef(KEY_PASSWORD, ConfigType.PASSWORD, None, "The password of that key."),
    ConfigDef(
        "connection.timeout.ms",
        ConfigType.INT,
        1000,
        "For how long to wait for a connection.",
        at_least(1),
        importance=_LOW,
    ),
    ConfigDef(
        "read.timeout.ms",
        ConfigType.INT,
        3000,
        "For how long to wait for an answer.",
        at_least(1),
        importance=_LOW,
    ),
    ConfigDef(
        "connection.compression",
        ConfigType.BOOLEAN,
        False,
        "Whether requests are compressed with gzip.",
        importance=_LOW,
    ),
    ConfigDef(
        "batch.size",
        ConfigType.INT,
        2000,
        "How many records are sent in one bulk request at most.",
        at_least(1),
    ),
    ConfigDef(
        "bulk.size.bytes",
        ConfigType.INT,
        5 << 20,
        "How large a bulk request is at most, if it has more than one record; -1: as large as it "
        "may be.",
        at_least(-1),
        importance=_LOW,
    ),
    ConfigDef(
        "max.in.flight.requests",
        ConfigType.INT,
        5,
        "How many requests are on their way at a time; with `write.method=upsert` one, as their "
        "order matters there.",
        at_least(1),
    ),
    ConfigDef(
        "max.retries",
        ConfigType.INT,
        5,
        "How often a request, or what was refused of it for lack of room, is sent again.",
        at_least(0),
        importance=_LOW,
    ),
    ConfigDef(
        "retry.backoff.ms",
        ConfigType.INT,
        100,
        "How long to wait before the first such try; then up to twice as long each time.",
        at_least(0),
        importance=_LOW,
    ),
    ConfigDef(
        "key.ignore",
        ConfigType.BOOLEAN,
        False,
        "Whether a document's id is `topic+partition+offset`, and not the record's key.",
        importance=_HIGH,
    ),
    ConfigDef(
        "topic.key.ignore",
        ConfigType.LIST,
        (),
        "Topics for which `key.ignore` is true.",
        importance=_LOW,
    ),
    ConfigDef(
        "schema.ignore",
        ConfigType.BOOLEAN,
        False,
        "Whether an index is made without a mapping, and the cluster finds types by itself. "
        "Records without a schema need it.",
        importance=_LOW,
    ),
    ConfigDef(
        "topic.schema.ignore",
        ConfigType.LIST,
        (),
        "Topics for which `schema.ignore` is true.",
        importance=_LOW,
    ),
    ConfigDef(
        "write.method",
        ConfigType.STRING,
        WriteMethod.INSERT.value,
        "Whether a record replaces the document of its id (`insert`), or changes the fields that "
        "it has (`upsert`).",
        one_of_any_case(*(method.value for method in WriteMethod)),
        importance=_LOW,
    ),
    ConfigDef(
        "index.write.method",
        ConfigType.STRING,
        None,
        "The same, as Aiven's connector names it.",
        one_of_any_case(*(method.value for method in WriteMethod)),
        importance=_LOW,
    ),
    ConfigDef(
        "external.version.header",
        ConfigType.STRING,
        "",
        "The header with a document's version, a whole number; without it, that is the offset.",
        importance=_LOW,
    ),
    ConfigDef(
        "compact.map.entries",
        ConfigType.BOOLEAN,
        True,
        'Whether a map with texts as keys is written as `{"a": 1}`, and not as '
        '`[{"key": "a", "value": 1}]`.',
        importance=_LOW,
    ),
    ConfigDef(
        "behavior.on.null.values",
        ConfigType.STRING,
        "fail",
        "What becomes of a record without a value: `ignore`, `fail`, or the document of its key is "
        "deleted (`delete`).",
        one_of_any_case("ignore", "delete", "fail"),
        importance=_LOW,
    ),
    ConfigDef(
        "behavior.on.malformed.documents",
        ConfigType.STRING,
        "fail",
        "What becomes of a document that the cluster does not take, as its mapping says otherwise: "
        "the connector fails (`fail`), or goes on with a line in the log (`warn`) or without "
        "(`ignore`).",
        one_of_any_case("ignore", "warn", "fail"),
        importance=_LOW,
    ),
    ConfigDef(
        "drop.invalid.message",
        ConfigType.BOOLEAN,
        False,
        "Whether records are left out of which no document can be made, such as those without a "
        "key; otherwise the connector fails.",
        importance=_LOW,
    ),
    ConfigDef(
        "data.stream.type",
        ConfigType.STRING,
        "none",
        "Whether records go to a data stream, `<type>-<dataset>-<namespace>`, and of which type. "
        "The cluster needs an index template for it.",
        one_of_any_case("none", "logs", "metrics"),
        importance=_LOW,
    ),
    ConfigDef(
        "data.stream.dataset",
        ConfigType.STRING,
        "",
        "The data stream's dataset.",
        importance=_LOW,
    ),
    ConfigDef(
        "data.stream.namespace",
        ConfigType.STRING,
        "${topic}",
        "The data stream's namespace; `${topic}` stands for the record's topic.",
        importance=_LOW,
    ),
    ConfigDef(
        "data.stream.timestamp.field",
        ConfigType.LIST,
        (),
        "The fields for the `@timestamp` of a data stream: the first that has a value; else, the "
        "record's timestamp.",
        importance=_LOW,
    ),
    *(
        ConfigDef(name, kind, default, "Not needed here.", importance=_LOW, has_effect=False)
        for name, kind, default in (
            ("type.name", ConfigType.STRING, ""),
            ("linger.ms", ConfigType.LONG, 1),
            ("flush.timeout.ms", ConfigType.LONG, 180_000),
            ("max.buffered.records", ConfigType.INT, 20_000),
        )
    ),
)


def check(config: Values) -> list[FieldError]:
    """Return what is missing or does not go together."""
    errors = []
    if not config.words("connection.url"):
        errors.append(
            FieldError("connection.url", "a value is needed, such as http://localhost:9200")
        )
    for url in config.words("connection.url"):
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            errors.append(
                FieldError("connection.url", f"{url} is no address, such as http://localhost:9200")
            )
    if bool(config.text("connection.username")) != bool(config.text("connection.password")):
        errors.append(
            FieldError("connection.username", "it and connection.password are given together")
        )
    if write_method(config) is WriteMethod.UPSERT and config.text("external.version.header"):
        errors.append(
            FieldError(
                "external.version.header", "a document has no version with write.method=upsert"
            )
        )
    return [*errors, *_check_stream(config)]


def _check_stream(config: Values) -> list[FieldError]:
    stream = is_stream(config)
    errors = []
    if stream != bool(config.text("data.stream.dataset")):
        errors.append(
            FieldError("data.stream.dataset", "it and data.stream.type are given together")
        )
    if stream and write_method(config) is WriteMethod.UPSERT:
        errors.append(FieldError("write.method", "a data stream takes new documents alone"))
    if stream and choice(config, "behavior.on.null.values") == "delete":
        errors.append(
            FieldError("behavior.on.null.values", "nothing can be deleted from a data stream")
        )
    return errors


def is_stream(config: Values) -> bool:
    """Tell whether records go to data streams instead of indices."""
    return choice(config, "data.stream.type") != "none"


def write_method(config: Values) -> WriteMethod:
    """Return what becomes of a record's document."""
    given = config.text("index.write.method") or config.text("write.method") or ""
    return WriteMethod(given.lower())


def choice(config: Values, name: str) -> str:
    """Return what was chosen of several behaviors, in lower case."""
    return (config.text(name) or "").lower()
