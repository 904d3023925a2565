"""`headwater produce`: lines of a file or of standard input become records."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from headwater.cli.errors import CommandError
from headwater.cli.options.connection import connection_options
from headwater.cli.options.values import MAX_PARTITION, escaped, point_in_time, property_option
from headwater.cli.output import note
from headwater.cli.records.delivery import SETTINGS, Delivery
from headwater.cli.records.formats import format_options, writer_schema_options
from headwater.cli.records.input import InputError, JsonReader, LineReader, OutgoingRecord
from headwater.clients.errors import UnknownTopicError
from headwater.clients.undelivered import why_undelivered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from headwater.cli.records.formats import RecordEncoder, RecordFormats
    from headwater.clients.connection import Connection

COMPRESSIONS = ("none", "gzip", "snappy", "lz4", "zstd")
# On Ctrl-C a user waits; what a healthy broker has not taken by then, it will not take soon.
_INTERRUPTED_FLUSH_S = 5.0


@click.command(
    epilog="""\b
Examples:
  echo 'hello' | headwater produce greetings
  headwater produce readings sensors.txt --compression zstd
  printf 'k1:v1\\nk2:v2\\n' | headwater produce users --key-separator :
  echo 'k1:NULL' | headwater produce users --key-separator : --null-marker NULL
  printf 'source:web,v:2\\tk1\\tv1\\n' | headwater produce users --parse-headers --parse-key
  echo '{"key": "k1", "value": {"a": 1}, "headers": {"h": "x"}}' | headwater produce users --json
  echo '{"name": "Ada"}' | headwater produce users --value-format avro --value-schema user.avsc

\b
Input with --json, one object per line:
  value, key       a string, null, or any other JSON value (sent as JSON text)
  value_base64, key_base64    bytes that are no text
  headers          {"name": "text"} or [{"key": "name", "value": "text"}]
  partition, timestamp        numbers; the timestamp in epoch milliseconds"""
)
@click.argument("topic")
@click.argument(
    "file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option("--parse-key", is_flag=True, help="Each line starts with a key and the separator.")
@click.option(
    "--key-separator", metavar="TEXT", type=escaped, help="Implies --parse-key.  [default: \\t]"
)
@click.option("--parse-headers", is_flag=True, help="Each line starts with headers, 'h1:v1,h2:v2'.")
@click.option(
    "--headers-delimiter", metavar="TEXT", type=escaped, help="After the headers.  [default: \\t]"
)
@click.option(
    "--headers-separator", metavar="TEXT", type=escaped, default=",", help="Between headers."
)
@click.option(
    "--headers-key-separator", metavar="TEXT", type=escaped, default=":", help="Within a header."
)
@click.option("--key", help="One key for all records.")
@click.option("--header", "headers", metavar="NAME=VALUE", multiple=True, help="On all records.")
@click.option(
    "--null-marker",
    metavar="TEXT",
    type=escaped,
    help="This text is null; as a value: a tombstone.",
)
@click.option("--json", "as_json", is_flag=True, help="Each line is a record as JSON, see below.")
@click.option(
    "-p", "--partition", type=click.IntRange(0, MAX_PARTITION), help="Default: by key, or spread."
)
@click.option(
    "--timestamp", metavar="TIME", type=point_in_time, help="Of all records; default: now."
)
@click.option(
    "-z", "--compression", type=click.Choice(COMPRESSIONS), default="none", show_default=True
)
@click.option("--acks", type=click.Choice(["0", "1", "all"]), default="all", show_default=True)
@property_option
@writer_schema_options
@format_options
@connection_options
def produce(
    connection: Connection,
    formats: RecordFormats,
    topic: str,
    file: Path | None,
    compression: str,
    acks: str,
    properties: dict[str, str],
    partition: int | None,
    **line_options: Any,
) -> None:
    """Write each line of FILE, or of standard input, to TOPIC.

    Waits until the broker has acknowledged all; fails if it did not.
    """
    encoders = formats.encoder(topic, "key"), formats.encoder(topic, "value")
    read = _reader(encoders, partition=-1 if partition is None else partition, **line_options).read
    settings = SETTINGS | {"acks": acks, "compression.type": compression} | properties
    _check_topic(connection, topic, partition)
    delivery = Delivery(
        connection.producer(settings), topic, lambda reason: note(f"not delivered: {reason}")
    )
    try:
        with _lines(file) as lines:
            for line in lines:
                delivery.send(read(_without_line_end(line)))
    except InputError as failure:
        delivery.finish()
        raise CommandError(
            f"line {delivery.sent + 1}: {failure}. {_outcome(connection, topic, delivery)}"
        ) from None
    except KeyboardInterrupt:
        left = delivery.finish(_INTERRUPTED_FLUSH_S)
        if left:
            note(f"Interrupted; {left} of {delivery.sent} records may not have been delivered.")
        raise
    except Exception:
        delivery.finish(_INTERRUPTED_FLUSH_S)
        raise
    delivery.finish()
    if delivery.failed:
        raise CommandError(_outcome(connection, topic, delivery))
    if sys.stderr.isatty():
        note(_outcome(connection, topic, delivery))


def _reader(
    encoders: tuple[RecordEncoder | None, RecordEncoder | None],
    *,
    parse_key: bool,
    key_separator: bytes | None,
    parse_headers: bool,
    headers_delimiter: bytes | None,
    headers_separator: bytes,
    headers_key_separator: bytes,
    key: str | None,
    headers: tuple[str, ...],
    null_marker: bytes | None,
    as_json: bool,
    partition: int,
    timestamp: int | None,
) -> LineReader | JsonReader:
    parse_key = parse_key or key_separator is not None
    parse_headers = parse_headers or headers_delimiter is not None
    if key is not None and parse_key:
        raise click.UsageError("A key comes either from --key or from each line, not from both.")
    if as_json and (parse_key or parse_headers or null_marker is not None):
        raise click.UsageError("With --json, keys, headers and nulls are fields of the object.")
    for name, separator in (("key", key_separator), ("headers", headers_delimiter)):
        if separator == b"":
            raise click.UsageError(f"The separator after the {name} cannot be empty.")
    of_key, of_value = encoders
    fixed_key = key.encode() if key is not None else None
    defaults = OutgoingRecord(
        value=None,
        key=fixed_key if of_key is None else of_key.from_text(fixed_key),
        headers=[_fixed_header(header) for header in headers] or None,
        partition=partition,
        timestamp=timestamp or 0,
    )
    if as_json:
        return JsonReader(
            defaults,
            encode_key=None if of_key is None else of_key.from_json,
            encode_value=None if of_value is None else of_value.from_json,
        )
    encode = {
        name: encoder.from_text
        for name, encoder in (("encode_key", of_key), ("encode_value", of_value))
        if encoder is not None
    }
    return LineReader(
        key_separator=(key_separator or b"\t") if parse_key else None,
        headers_delimiter=(headers_delimiter or b"\t") if parse_headers else None,
        header_separator=headers_separator,
        header_key_separator=headers_key_separator,
        null_marker=null_marker,
        defaults=defaults,
        **encode,
    )


def _fixed_header(header: str) -> tuple[str, bytes]:
    name, equals, value = header.partition("=")
    if not equals:
        raise click.BadParameter(f"'{header}' is not of the form NAME=VALUE", param_hint="--header")
    return name, value.encode()


def _check_topic(connection: Connection, topic: str, partition: int | None) -> None:
    description = connection.find_topic(topic)
    if description is None:
        note(f"There is no topic '{topic}' yet; the broker may create it.")
    elif partition is not None and partition >= len(description.partitions):
        raise CommandError(
            f"topic '{topic}' has no partition {partition}; "
            f"its partitions are 0 to {len(description.partitions) - 1}"
        )


@contextmanager
def _lines(file: Path | None) -> Iterator[Iterator[bytes]]:
    if file is None:
        if sys.stdin.isatty():
            note("Type records, one per line. Ctrl-D ends.")
        yield iter(sys.stdin.buffer)
        return
    with open(file, "rb") as lines:
        if not sys.stderr.isatty():
            yield lines
            return
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

        with Progress(
            "[progress.description]{task.description}",
            BarColumn(),
            DownloadColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        ) as progress:
            task = progress.add_task(file.name, total=file.stat().st_size)
            yield _counted(lines, lambda done: progress.update(task, completed=done))


def _counted(lines: IO[bytes], report: Callable[[int], None]) -> Iterator[bytes]:
    done = 0
    for number, line in enumerate(lines):
        if not number % 4096:
            report(done)
        done += len(line)
        yield line
    report(done)


def _without_line_end(line: bytes) -> bytes:
    if line.endswith(b"\r\n"):
        return line[:-2]
    return line[:-1] if line.endswith(b"\n") else line


def _outcome(connection: Connection, topic: str, delivery: Delivery) -> str:
    if not delivery.failed:
        return f"Delivered: {delivery.sent} of {delivery.sent} records."
    error = delivery.first_failure
    assert error is not None, "a failure was counted and not kept"
    reason = why_undelivered(connection, topic, error)
    if error.name() in ("_UNKNOWN_TOPIC", "UNKNOWN_TOPIC_OR_PART"):
        reason += f". {UnknownTopicError(topic, connection.topic_names())}"
    return f"{delivery.failed} of {delivery.sent} records were not delivered: {reason}"
