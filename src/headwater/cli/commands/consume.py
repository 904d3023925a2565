"""`headwater consume`: print the records of a topic, old ones, new ones, or both."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import click

from headwater.cli.errors import CommandError
from headwater.cli.options.connection import connection_options
from headwater.cli.options.values import escaped, property_option, start_position
from headwater.cli.output import note
from headwater.cli.records.formats import (
    decoding,
    decoding_json,
    format_options,
    reader_schema_options,
    skipping_malformed,
)
from headwater.cli.records.group_reading import GroupReading, group_settings
from headwater.cli.records.output import json_line, template_formatter, text_formatter
from headwater.clients.connection import POLL_S, Connection
from headwater.clients.errors import describe
from headwater.clients.retries import PASSING
from headwater.clients.start_position import Span, StartPosition

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from confluent_kafka import Consumer, KafkaError, Message

    from headwater.cli.records.formats import RecordFormats

_AT_ONCE = 1000


@click.command(
    epilog="""\b
Examples:
  headwater consume orders                                 new records, until Ctrl-C
  headwater consume orders --from-beginning --until-end    all there are
  headwater consume orders --offset -10 --until-end        the last 10 of each partition
  headwater consume orders --partition 2 --offset 4711 --max-messages 1
  headwater consume orders --offset 15m                    what came in the last 15 minutes
  headwater consume orders --offset 2026-05-01T10:00:00Z --json
  headwater consume orders --group billing --from-beginning  share the work, and go on later
  headwater consume orders --keys --headers
  headwater consume orders --value-format avro --registry http://localhost:8081
  headwater consume orders --value-format avro --value-schema @orders-value:1
  headwater consume orders --format '%t [%p] %o at %T: %k = %v (%h)\\n'

\b
Fields of --format, which ends lines only where it says \\n:
  %k key   %v value   %h headers (a:1,b:2)   %t topic   %p partition   %o offset
  %T timestamp in epoch ms   %K, %S length of key, value (-1: null)   %% a percent sign"""
)
@click.argument("topic")
@click.option("--from-beginning", is_flag=True, help="Short for --offset earliest.")
@click.option(
    "-o",
    "--offset",
    "position",
    metavar="POSITION",
    type=start_position,
    help="earliest, latest, N, -N (before the end), a date, @EPOCH_MS, or 15m (ago)."
    "  [default: latest]",
)
@click.option("-p", "--partition", "partitions", type=click.IntRange(0), multiple=True)
@click.option("-g", "--group", help="Join this consumer group and commit what was printed.")
@click.option("-n", "--max-messages", type=click.IntRange(1), help="End after so many records.")
@click.option("-e", "--until-end", is_flag=True, help="End where the topic ends at this moment.")
@click.option("--timeout", type=float, metavar="SECONDS", help="End when nothing came for so long.")
@click.option("-k", "--keys", is_flag=True, help="Print KEY<separator>VALUE.")
@click.option("--headers", is_flag=True, help="Print headers (a:1,b:2) in front.")
@click.option("--key-separator", "separator", metavar="TEXT", type=escaped, default="\\t")
@click.option("--null-marker", metavar="TEXT", type=escaped, default="null", show_default=True)
@click.option("-f", "--format", "template", metavar="TEMPLATE", help="Fields see below.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per record and line.")
@click.option(
    "--isolation-level",
    type=click.Choice(["read_committed", "read_uncommitted"]),
    default="read_committed",
    show_default=True,
)
@click.option("-v", "--verbose", is_flag=True, help="Say on standard error where it starts.")
@click.option(
    "--skip-message-on-error",
    is_flag=True,
    help="Skip records that cannot be decoded, and report them.",
)
@property_option
@reader_schema_options
@format_options
@connection_options
def consume(
    connection: Connection,
    formats: RecordFormats,
    topic: str,
    from_beginning: bool,
    position: StartPosition | None,
    partitions: tuple[int, ...],
    group: str | None,
    max_messages: int | None,
    until_end: bool,
    timeout: float | None,
    keys: bool,
    headers: bool,
    separator: bytes,
    null_marker: bytes,
    template: str | None,
    as_json: bool,
    isolation_level: str,
    verbose: bool,
    skip_message_on_error: bool,
    properties: dict[str, str],
) -> None:
    """Print the records of TOPIC, by default the values of those that arrive from now on.

    A tombstone (a record without a value) is printed as null. With --timeout, having got fewer
    records than --max-messages is a failure. With --group, the partitions are shared with the
    other members, and the next one goes on after the last record that was printed.
    """
    if from_beginning and position is not None:
        raise click.UsageError("Give either --from-beginning or --offset.")
    if as_json + (template is not None) + (keys or headers) > 1:
        raise click.UsageError("Give one of --json, --format, and --keys with --headers.")
    to_bytes = _formatter(formats, as_json, template, keys, headers, separator, null_marker)
    if skip_message_on_error:
        to_bytes = skipping_malformed(to_bytes)
    if group is not None and partitions:
        raise click.UsageError("With --group, the group decides on the partitions.")
    start = StartPosition("earliest") if from_beginning else position
    settings = {"isolation.level": isolation_level, **_settings(connection)}
    chosen = _choose_partitions(connection, topic, partitions)
    reading: Reading | GroupReading
    if group is not None:
        consumer = connection.consumer({**settings, **group_settings(group, start), **properties})
        reading = GroupReading(consumer, topic, until_end=until_end, verbose=verbose)
    else:
        start = start or StartPosition("latest")
        spans = start.resolve(connection, topic, chosen)
        if verbose or start.kind == "offset":
            _say_starts(topic, spans, start, verbose=verbose)
        consumer = connection.consumer({**settings, **properties})
        _assign(consumer, topic, spans)
        reading = Reading(topic, spans, until_end=until_end)
    try:
        count = _print(consumer, reading, to_bytes, max_messages, timeout)
    finally:
        consumer.close()
    if max_messages is not None and timeout is not None and count < max_messages:
        raise CommandError(
            f"only {count} of {max_messages} records came; then none for {timeout:g} s"
        )


class Reading:
    """Which partitions still have something to print, and which records belong to it."""

    def __init__(self, topic: str, spans: dict[int, Span], *, until_end: bool) -> None:
        self._topic = topic
        self._ends = {partition: span.end for partition, span in spans.items()} if until_end else {}
        self._until_end = until_end
        self._open = {
            partition for partition, span in spans.items() if not until_end or span.start < span.end
        }

    @property
    def finished(self) -> bool:
        """Whether the end was asked for and reached, in every partition."""
        return not self._open

    def accepts(self, message: Message) -> bool:
        """Take note of a message; False for what is no record, or lies behind the end."""
        error: KafkaError | None = message.error()
        partition = message.partition()
        if error is not None:
            if error.name() in PASSING:
                return False  # the client goes on by itself as soon as somebody has taken over
            if error.name() != "_PARTITION_EOF":
                raise CommandError(f"{self._topic} [{partition}]: {describe(error)}")
            # Compaction or a transaction marker may have taken the last offsets: it is the end.
            if self._until_end:
                self._open.discard(partition)
            return False
        if not self._until_end:
            return True
        end = self._ends[partition]
        if message.offset() >= end - 1:
            self._open.discard(partition)
        return bool(message.offset() < end)

    def printed(self, records: Sequence[Message]) -> None:
        """Nobody needs to know how far we have come."""


def _print(
    consumer: Consumer,
    reading: Reading | GroupReading,
    to_bytes: Callable[[Message], bytes],
    max_messages: int | None,
    timeout: float | None,
) -> int:
    out = sys.stdout.buffer
    count = 0
    last = time.monotonic()
    while not reading.finished and (max_messages is None or count < max_messages):
        # The first wait is short, for Ctrl-C's sake; what else has arrived comes along with it.
        message = consumer.poll(POLL_S)
        if message is None:
            if timeout is not None and time.monotonic() - last >= timeout:
                break
            continue
        records = [
            each for each in (message, *consumer.consume(_AT_ONCE, 0)) if reading.accepts(each)
        ]
        if max_messages is not None:
            records = records[: max_messages - count]
        if records:
            lines: list[bytes] = []
            try:
                lines.extend(map(to_bytes, records))
            finally:  # what comes before a malformed record is done with before its error
                out.write(b"".join(lines))
                out.flush()
                if lines:
                    reading.printed(records[: len(lines)])
            count += len(records)
            last = time.monotonic()
    return count


def _formatter(
    formats: RecordFormats,
    as_json: bool,
    template: str | None,
    keys: bool,
    headers: bool,
    separator: bytes,
    null_marker: bytes,
) -> Callable[[Message], bytes]:
    if as_json:
        return decoding_json(json_line, formats)
    if template is None:
        return decoding(
            text_formatter(
                headers=headers, keys=keys, separator=separator, null_marker=null_marker
            ),
            formats,
        )
    try:
        return decoding(template_formatter(template, null_marker), formats)
    except ValueError as failure:
        raise click.BadParameter(str(failure), param_hint="--format") from None


def _choose_partitions(
    connection: Connection, topic: str, partitions: tuple[int, ...]
) -> list[int]:
    known = sorted(partition.id for partition in connection.describe_topic(topic).partitions)
    unknown = set(partitions).difference(known)
    if unknown:
        raise CommandError(
            f"topic '{topic}' has no partition {min(unknown)}; its partitions are 0 to {known[-1]}"
        )
    return sorted(set(partitions)) or known


def _settings(connection: Connection) -> dict[str, object]:
    def report(error: KafkaError) -> None:
        if error.name() == "_ALL_BROKERS_DOWN":
            note(f"Lost the connection to {connection.bootstrap_servers}; trying again.")

    return {
        "enable.partition.eof": True,
        # What was deleted while it was being read is skipped, not read from the end on.
        "auto.offset.reset": "earliest",
        # With a full queue librdkafka would pause for a second, and a fast reader would starve.
        "fetch.queue.backoff.ms": 10,
        "error_cb": report,
    }


def _assign(consumer: Consumer, topic: str, spans: dict[int, Span]) -> None:
    from confluent_kafka import TopicPartition

    consumer.assign(
        [TopicPartition(topic, partition, span.start) for partition, span in spans.items()]
    )


def _say_starts(topic: str, spans: dict[int, Span], start: StartPosition, *, verbose: bool) -> None:
    for partition, span in spans.items():
        moved = start.kind == "offset" and span.start != start.number
        if verbose or moved:
            there = f" instead of {start.number}" if moved else ""
            note(
                f"{topic} [{partition}] starts at offset {span.start}{there} "
                f"(first {span.first}, end {span.end})"
            )
