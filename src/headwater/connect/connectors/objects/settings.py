"""The properties of the sink to object stores, under the names of Confluent's S3 connector."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from headwater.config import (
    NOT_EMPTY,
    ConfigDef,
    ConfigType,
    Definitions,
    Importance,
    at_least,
    between,
    one_of,
    one_of_any_case,
)
from headwater.connect.connectors.connector import FieldError
from headwater.connect.connectors.objects.formats import FORMATS, format_class
from headwater.connect.connectors.objects.partitioners import PARTITIONERS, partitioner_class

if TYPE_CHECKING:
    from headwater.config import Values

_HIGH, _LOW = Importance.HIGH, Importance.LOW

DEFINITIONS = Definitions(
    "S3Sink",
    ConfigDef(
        "s3.bucket.name",
        ConfigType.STRING,
        None,
        "The bucket to write to, which is there already. A folder has none.",
        NOT_EMPTY,
        importance=_HIGH,
    ),
    ConfigDef(
        "s3.region",
        ConfigType.STRING,
        "us-west-2",
        "The bucket's region.",
        NOT_EMPTY,
    ),
    ConfigDef(
        "store.url",
        ConfigType.STRING,
        None,
        "The store's address, such as http://localhost:9000, if it is not Amazon's; "
        "file:///srv/lake is a folder of the worker's machine.",
        NOT_EMPTY,
        importance=_HIGH,
    ),
    ConfigDef(
        "aws.access.key.id",
        ConfigType.STRING,
        "",
        "The key to log in with; without it, what AWS's own settings and environment say.",
        importance=_HIGH,
    ),
    ConfigDef(
        "aws.secret.access.key",
        ConfigType.PASSWORD,
        None,
        "The secret of `aws.access.key.id`.",
        importance=_HIGH,
    ),
    ConfigDef(
        "topics.dir",
        ConfigType.STRING,
        "topics",
        "What the names of all objects begin with.",
        importance=_HIGH,
    ),
    ConfigDef(
        "format.class",
        ConfigType.CLASS,
        "io.confluent.connect.s3.format.avro.AvroFormat",
        f"How values are written: {', '.join(FORMATS)}, in the package of each as Confluent has "
        "it, or the last part of its name alone.",
        NOT_EMPTY,
        importance=_HIGH,
    ),
    ConfigDef(
        "flush.size",
        ConfigType.INT,
        None,
        "How many records of a topic's partition are written before its files are complete.",
        at_least(1),
        importance=_HIGH,
        required=True,
    ),
    ConfigDef(
        "rotate.interval.ms",
        ConfigType.LONG,
        -1,
        "How much time by `timestamp.extractor` there is at most between the first and the last "
        "record of a file. With a partitioner by time, a record of another folder completes the "
        "files, too. -1: any.",
        at_least(-1),
        importance=_HIGH,
    ),
    ConfigDef(
        "rotate.schedule.interval.ms",
        ConfigType.LONG,
        -1,
        "After how much time on the clock files are complete, counted from midnight of "
        "`timezone`. -1: never.",
        at_least(-1),
    ),
    ConfigDef(
        "partitioner.class",
        ConfigType.CLASS,
        "io.confluent.connect.storage.partitioner.DefaultPartitioner",
        f"Which folders there are: {', '.join(PARTITIONERS)}, with Confluent's package in front "
        "or without.",
        NOT_EMPTY,
        importance=_HIGH,
    ),
    ConfigDef(
        "partition.field.name",
        ConfigType.LIST,
        (),
        "The fields for `FieldPartitioner`; a dot leads into a field.",
    ),
    ConfigDef(
        "partition.duration.ms",
        ConfigType.LONG,
        -1,
        "How much time goes into one folder of `TimeBasedPartitioner`.",
    ),
    ConfigDef(
        "path.format",
        ConfigType.STRING,
        "",
        "The folders of `TimeBasedPartitioner`, such as 'year'=YYYY/'month'=MM/'day'=dd.",
    ),
    ConfigDef(
        "locale",
        ConfigType.STRING,
        "",
        "The language of names in `path.format`. They are English here.",
        has_effect=False,
    ),
    ConfigDef(
        "timezone",
        ConfigType.STRING,
        "UTC",
        "The time zone of folders by time, and of `rotate.schedule.interval.ms`.",
        NOT_EMPTY,
    ),
    ConfigDef(
        "timestamp.extractor",
        ConfigType.STRING,
        "Wallclock",
        "Which time a record has: `Record`, the one in its topic; `RecordField`, that of "
        "`timestamp.field`; `Wallclock`, when it is read, which is another one after a crash: "
        "by it, records may be there twice in folders by time.",
        one_of("Wallclock", "Record", "RecordField"),
    ),
    ConfigDef(
        "timestamp.field",
        ConfigType.STRING,
        "timestamp",
        "The field for `RecordField`: a timestamp, milliseconds, or text as in ISO 8601.",
        NOT_EMPTY,
    ),
    ConfigDef(
        "s3.part.size",
        ConfigType.INT,
        26_214_400,
        "How many bytes of a file are kept in memory, the rest on disk, and sent at a time.",
        at_least(5 << 20),
        importance=_HIGH,
    ),
    ConfigDef(
        "s3.part.retries",
        ConfigType.INT,
        3,
        "How often a request that failed is sent again before the connector fails, and is "
        "started again.",
        at_least(0),
    ),
    ConfigDef(
        "s3.compression.type",
        ConfigType.STRING,
        "none",
        "How JSON and bytes are compressed.",
        one_of("none", "gzip"),
        importance=_LOW,
    ),
    ConfigDef(
        "s3.compression.level",
        ConfigType.INT,
        -1,
        "How much gzip tries: 0 to 9, or -1 for its own choice.",
        between(-1, 9),
        importance=_LOW,
    ),
    ConfigDef(
        "parquet.codec",
        ConfigType.STRING,
        "snappy",
        "How Parquet is compressed.",
        one_of("none", "snappy", "gzip", "brotli", "lz4", "zstd"),
        importance=_LOW,
    ),
    ConfigDef(
        "avro.codec",
        ConfigType.STRING,
        "null",
        "How Avro is compressed.",
        one_of("null", "deflate", "snappy", "bzip2"),
        importance=_LOW,
    ),
    ConfigDef(
        "format.bytearray.extension",
        ConfigType.STRING,
        ".bin",
        "How the names of `ByteArrayFormat` end.",
        importance=_LOW,
    ),
    ConfigDef(
        "format.bytearray.separator",
        ConfigType.STRING,
        "\n",
        "What stands after each value of `ByteArrayFormat`.",
        importance=_LOW,
    ),
    ConfigDef(
        "schema.compatibility",
        ConfigType.STRING,
        "NONE",
        "Which schemas may share a file. Records that are read together are read as the newest "
        "schema among them; another one begins new files, whatever is said here.",
        one_of_any_case("NONE", "BACKWARD", "FORWARD", "FULL"),
        has_effect=False,
        importance=_HIGH,
    ),
    ConfigDef(
        "behavior.on.null.values",
        ConfigType.STRING,
        "fail",
        "What becomes of records without a value: `fail`, or `ignore`.",
        one_of_any_case("fail", "ignore"),
        importance=_LOW,
    ),
    ConfigDef("directory.delim", ConfigType.STRING, "/", "What stands between folders.", NOT_EMPTY),
    ConfigDef(
        "file.delim", ConfigType.STRING, "+", "What stands between the parts of a name.", NOT_EMPTY
    ),
    ConfigDef(
        "filename.offset.zero.pad.width",
        ConfigType.INT,
        10,
        "How many digits the offset in a name has at least.",
        at_least(0),
        importance=_LOW,
    ),
    *(
        ConfigDef(name, ConfigType.BOOLEAN, False, f"Whether {what} are written; not yet.")
        for name, what in (("store.kafka.keys", "keys"), ("store.kafka.headers", "headers"))
    ),
    *(
        ConfigDef(
            name,
            ConfigType.STRING,
            "",
            "Of Confluent's connector; not needed here.",
            has_effect=False,
            importance=_LOW,
        )
        for name in ("storage.class", "schema.generator.class", "schemas.cache.config")
    ),
)


def check(config: Values) -> list[FieldError]:
    """Return what is missing, and what does not go together."""
    errors = [*_check_store(config)]
    for name, read in (("format.class", format_class), ("partitioner.class", partitioner_class)):
        try:
            read(config.text(name) or "")
        except ValueError as failure:
            errors.append(FieldError(name, str(failure)))
    if not errors:
        errors += partitioner_class(config.text("partitioner.class") or "").check(config)
    try:
        ZoneInfo(config.text("timezone") or "")
    except (KeyError, ValueError, OSError):
        errors.append(FieldError("timezone", "there is no such time zone; one is Europe/Zurich"))
    errors += [
        FieldError(name, "only values are written, so far; leave it out")
        for name in ("store.kafka.keys", "store.kafka.headers")
        if config.boolean(name)
    ]
    return errors


def _check_store(config: Values) -> list[FieldError]:
    url = config.text("store.url")
    parts = urlsplit(url or "https://s3.amazonaws.com")
    if parts.scheme == "file":
        if parts.netloc or not parts.path.startswith("/"):
            return [FieldError("store.url", f"{url} is no folder, such as file:///srv/lake")]
        return []
    errors = []
    if parts.scheme not in ("http", "https") or not parts.netloc:
        errors.append(FieldError("store.url", f"{url} is no address, such as https://s3.example"))
    if not config.text("s3.bucket.name"):
        errors.append(FieldError("s3.bucket.name", "a bucket is needed, such as orders"))
    if bool(config.text("aws.access.key.id")) != bool(config.text("aws.secret.access.key")):
        missing = "aws.access.key.id" if not config.text("aws.access.key.id") else _SECRET
        errors.append(FieldError(missing, "a key and its secret are given together, or neither"))
    return errors


_SECRET = "aws.secret.access.key"
