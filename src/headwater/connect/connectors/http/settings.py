"""The properties of the HTTP sink and source, under Confluent's names."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from headwater.config import (
    NOT_EMPTY,
    ConfigDef,
    ConfigType,
    Definitions,
    Importance,
    at_least,
    one_of,
    one_of_any_case,
)
from headwater.connect.connectors.connector import FieldError
from headwater.connect.connectors.http.status_codes import StatusCodes

if TYPE_CHECKING:
    from headwater.config import Values

_REQUESTS = (
    ConfigDef(
        "headers",
        ConfigType.STRING,
        "",
        "Headers of each request, as in Content-Type:text/plain|X-Shop:7.",
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "header.separator",
        ConfigType.STRING,
        "|",
        "What stands between two headers.",
        NOT_EMPTY,
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "auth.type",
        ConfigType.STRING,
        "none",
        "How to log in: not at all, or with a user and a password. Another way is a header.",
        one_of_any_case("none", "basic"),
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "connection.user",
        ConfigType.STRING,
        "",
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
        "https.ssl.ca.location",
        ConfigType.STRING,
        "",
        "A PEM file with the authorities to trust; without it, the system's.",
    ),
    ConfigDef(
        "max.retries",
        ConfigType.INT,
        10,
        "How often a request that failed is sent again before the connector fails.",
        at_least(0),
    ),
    ConfigDef(
        "retry.backoff.ms",
        ConfigType.INT,
        3000,
        "How long to wait before a request is sent again, at least; the wait doubles each time "
        "with `retry.backoff.policy=exponential_with_jitter`.",
        at_least(0),
    ),
    ConfigDef(
        "retry.backoff.policy",
        ConfigType.STRING,
        "exponential_with_jitter",
        "Whether waits grow: `exponential_with_jitter`, or `constant_value`.",
        one_of("exponential_with_jitter", "constant_value"),
    ),
    ConfigDef(
        "retry.on.status.codes",
        ConfigType.STRING,
        "400-",
        "Which answers are worth another try: codes and ranges, as in 408,429,500-.",
        NOT_EMPTY,
    ),
    ConfigDef(
        "http.connect.timeout.ms",
        ConfigType.INT,
        30_000,
        "For how long to wait for a connection.",
        at_least(1),
    ),
    ConfigDef(
        "http.request.timeout.ms",
        ConfigType.INT,
        30_000,
        "For how long to wait for an answer.",
        at_least(1),
    ),
)


def _url(what: str) -> ConfigDef:
    return ConfigDef(
        "http.api.url", ConfigType.STRING, None, what, NOT_EMPTY, importance=Importance.HIGH
    )


SINK_DEFINITIONS = Definitions(
    "HttpSink",
    _url(
        "Where to send records. `${topic}` and `${key}` in it are a record's; only records with "
        "the same address are sent in one request."
    ),
    ConfigDef(
        "request.method",
        ConfigType.STRING,
        "POST",
        "The method of the requests.",
        one_of_any_case("POST", "PUT", "PATCH"),
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "request.body.format",
        ConfigType.STRING,
        "string",
        "How a record's value is written: as text (`string`), or as `json`.",
        one_of_any_case("string", "json"),
    ),
    ConfigDef(
        "batch.max.size",
        ConfigType.INT,
        1,
        "How many records are sent in one request.",
        at_least(1),
        importance=Importance.HIGH,
    ),
    ConfigDef("batch.prefix", ConfigType.STRING, "", "What stands before the texts of a request."),
    ConfigDef("batch.suffix", ConfigType.STRING, "", "What stands after the texts of a request."),
    ConfigDef(
        "batch.separator", ConfigType.STRING, ",", "What stands between two texts of a request."
    ),
    ConfigDef(
        "batch.json.as.array",
        ConfigType.BOOLEAN,
        True,
        "Whether the JSON of a request is an array of records; it may be one record alone if "
        "`batch.max.size` is 1.",
    ),
    ConfigDef(
        "behavior.on.null.values",
        ConfigType.STRING,
        "ignore",
        "What becomes of records without a value: `ignore`, `log`, `fail`, or a DELETE request "
        "(`delete`).",
        one_of_any_case("ignore", "delete", "log", "fail"),
        importance=Importance.LOW,
    ),
    ConfigDef(
        "behavior.on.error",
        ConfigType.STRING,
        "fail",
        "What becomes of records that are refused after all tries: the connector fails (`fail`), "
        "or goes on with the next ones, with a line in the log (`log`) or without (`ignore`).",
        one_of_any_case("ignore", "log", "fail"),
        importance=Importance.LOW,
    ),
    *_REQUESTS,
)

SOURCE_DEFINITIONS = Definitions(
    "HttpSource",
    _url("What to ask. `${offset}` in it is the last record's offset."),
    ConfigDef(
        "topic.name.pattern",
        ConfigType.STRING,
        None,
        "The topic to write to.",
        NOT_EMPTY,
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "http.request.method",
        ConfigType.STRING,
        "GET",
        "The method of the requests.",
        one_of_any_case("GET", "POST"),
    ),
    ConfigDef(
        "http.request.body",
        ConfigType.STRING,
        "",
        "What a POST request says; `${offset}` in it is the last record's offset.",
    ),
    ConfigDef(
        "request.interval.ms",
        ConfigType.INT,
        15_000,
        "How often to ask.",
        at_least(1),
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "http.response.data.json.pointer",
        ConfigType.STRING,
        "",
        "Where in the answer the records are, as a JSON pointer such as /data/items; empty: the "
        "answer itself. An array there is a record for each of its items.",
    ),
    ConfigDef(
        "http.offset.mode",
        ConfigType.STRING,
        "SIMPLE_INCREMENTING",
        "What the offset is: the initial one and the number of records since "
        "(`SIMPLE_INCREMENTING`), or a field of the last record (`CHAINING`).",
        one_of("SIMPLE_INCREMENTING", "CHAINING"),
    ),
    ConfigDef(
        "http.initial.offset",
        ConfigType.STRING,
        "0",
        "The offset of the first request.",
    ),
    ConfigDef(
        "http.offset.json.pointer",
        ConfigType.STRING,
        "",
        "Where in a record its offset is, for `CHAINING`, such as /id.",
    ),
    *_REQUESTS,
)


def check(config: Values, *needed: str) -> list[FieldError]:
    """Return what is missing, and what cannot be read."""
    errors = [
        FieldError(name, f"a value is needed, such as {_EXAMPLES[name]}")
        for name in needed
        if not config.text(name)
    ]
    url = config.text("http.api.url")
    if url:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            errors.append(
                FieldError("http.api.url", f"{url} is no address, such as http://localhost/orders")
            )
    try:
        StatusCodes.read(config.text("retry.on.status.codes") or "")
    except ValueError as failure:
        errors.append(FieldError("retry.on.status.codes", str(failure)))
    separator = config.text("header.separator") or ""
    errors += [
        FieldError("headers", f"{header} is no header, such as X-Shop:7")
        for header in (config.text("headers") or "").split(separator)
        if header and ":" not in header
    ]
    return errors


_EXAMPLES = {
    "http.api.url": "http://localhost:8080/orders",
    "topic.name.pattern": "orders",
    "http.offset.json.pointer": "/id",
}
