"""`headwater log`: look into the files of a log, without a broker."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.errors import CommandError
from headwater.cli.lazy_group import LazyGroup
from headwater.cli.output import json_bytes, note

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.log.dump_lines import DumpLine

_DUMPED = (".log", ".index", ".timeindex", ".txnindex", ".snapshot")


@click.group(cls=LazyGroup)
def log() -> None:
    """Look into the files of a log, without a broker."""


@log.command(
    epilog="""\b
Examples:
  headwater log dump data/orders-0/00000000000000000000.log
  headwater log dump data/orders-0/00000000000000000000.log --print-data-log
  headwater log dump data/orders-0/00000000000000000000.index
  headwater log dump data/orders-0
  headwater log dump data/orders-0/*.log --json | jq 'select(.type == "batch") | .recordCount'

It prints what Kafka's DumpLogSegments prints, and reads Kafka's files as well as Headwater's.
A file that is damaged makes the exit code 1."""
)
@click.argument(
    "files",
    metavar="FILE...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, path_type=Path),
)
@click.option("--deep-iteration", is_flag=True, help="Show each record, not only the batches.")
@click.option("--print-data-log", is_flag=True, help="Show keys and values; implies the above.")
@click.option("--skip-record-metadata", is_flag=True, help="Of records, show only the data.")
@click.option("--max-bytes", type=click.IntRange(1), help="Read only so much of each .log file.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
def dump(
    files: tuple[Path, ...],
    deep_iteration: bool,
    print_data_log: bool,
    skip_record_metadata: bool,
    max_bytes: int | None,
    as_json: bool,
) -> None:
    """Print what is in segments, indexes, snapshots and checkpoints.

    FILE may also be the directory of a partition: all its files then.
    """
    from headwater.log.dump import dump_file
    from headwater.log.dump_lines import BatchLine, Problem
    from headwater.log.errors import LogError

    damaged: set[Path] = set()
    for path in _expand(files):
        if not as_json:
            click.echo(f"Dumping {path}")
        lines = dump_file(
            path,
            records=deep_iteration,
            contents=print_data_log,
            metadata=not skip_record_metadata,
            max_bytes=max_bytes,
        )
        try:
            for line in lines:
                if isinstance(line, Problem) or (isinstance(line, BatchLine) and not line.is_valid):
                    damaged.add(path)
                if as_json:
                    click.echo(json.dumps({"file": str(path), **_as_json(line)}))
                elif isinstance(line, Problem):
                    note(line.text)
                else:
                    click.echo(line.text)
        except LogError as failure:
            raise CommandError(f"{path}: {failure}") from None
    if damaged:
        raise CommandError(f"damaged: {', '.join(str(path) for path in sorted(damaged))}")


def _expand(files: tuple[Path, ...]) -> Iterator[Path]:
    for path in files:
        if not path.is_dir():
            yield path
            continue
        inside = sorted(each for each in path.iterdir() if each.suffix in _DUMPED)
        if not inside:
            raise CommandError(f"{path}: there is no file of a log in this directory")
        yield from inside


def _as_json(line: DumpLine) -> dict[str, Any]:
    from headwater.log.dump_lines import BatchLine, RecordLine

    kind = type(line).__name__.removesuffix("Line")
    described: dict[str, Any] = {"type": kind[0].lower() + kind[1:]}
    if isinstance(line, BatchLine):
        header = line.header
        return described | {
            **{_camel(name): value for name, value in header._asdict().items()},
            "lastOffset": header.last_offset,
            "size": header.size,
            "compression": _codec_name(header.codec),
            "timestampType": header.timestamp_type.name.title().replace("_", ""),
            "isTransactional": header.is_transactional,
            "isControl": header.is_control,
            "position": line.position,
            "isValid": line.is_valid,
        }
    if isinstance(line, RecordLine):
        record = line.record
        return described | {
            "offset": record.offset,
            "timestamp": record.timestamp,
            "sequence": record.sequence,
            "isControl": line.is_control,
            "headers": [
                {"key": name, **json_bytes(data, "value")} for name, data in record.headers
            ],
            **(json_bytes(record.key, "key") if line.with_contents else {}),
            **(json_bytes(record.value, "value") if line.with_contents else {}),
        }
    fields = {field.name: getattr(line, field.name) for field in dataclasses.fields(line)}
    return described | {_camel(name): value for name, value in fields.items()}


def _codec_name(number: int) -> str:
    from headwater.log.records.compression_type import CompressionType

    # A damaged header may hold any number.
    return (
        CompressionType(number).config_name
        if number in set(CompressionType)
        else f"unknown ({number})"
    )


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
