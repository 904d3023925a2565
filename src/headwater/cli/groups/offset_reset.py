"""Where a group shall go on reading, as options and files say it."""

from __future__ import annotations

import csv
import re
from datetime import timedelta
from typing import TYPE_CHECKING

import click

from headwater.cli.errors import CommandError
from headwater.cli.options.values import duration
from headwater.clients.connection import check_topic_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater.clients.offset_plan import Place

MAX_OFFSET = (1 << 63) - 1

_ISO_DURATION = re.compile(
    r"P(?:(?P<days>\d+)D)?"
    r"(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+(?:\.\d+)?)S)?)?"
)


def ago(text: str) -> int:
    """An option's type: how long ago, as Kafka writes it (PT1H30M) or shorter (90m)."""
    match = _ISO_DURATION.fullmatch(text)
    if match is None or not any(match.groups()):
        return duration(text)
    parts = {name: float(value) for name, value in match.groupdict().items() if value}
    return int(timedelta(**parts) / timedelta(milliseconds=1))


def parse_scope(texts: Iterable[str]) -> dict[str, list[int] | None]:
    """Read TOPIC and TOPIC:0,1,2; None stands for all partitions."""
    scope: dict[str, list[int] | None] = {}
    for text in texts:
        topic, colon, numbers = text.partition(":")
        check_topic_name(topic)
        if not colon:
            scope[topic] = None
            continue
        if not re.fullmatch(r"\d+(,\d+)*", numbers):
            raise click.UsageError(f"'{text}' is not of the form TOPIC or TOPIC:0,1,2")
        known = scope.setdefault(topic, [])
        if known is not None:
            known += [int(number) for number in numbers.split(",")]
    return scope


def read_plan(path: str, group: str) -> dict[Place, int]:
    """Read offsets from lines of `topic,partition,offset`, or with the group in front."""
    plan: dict[Place, int] = {}
    with open(path, newline="", encoding="utf-8") as file:
        for number, row in enumerate(csv.reader(file), start=1):
            if not row or not "".join(row).strip():
                continue
            cells = [cell.strip() for cell in row]
            if len(cells) == 4:
                if cells[0] != group:
                    continue
                del cells[0]
            try:
                topic, partition, offset = cells
                plan[topic, int(partition)] = int(offset)
            except ValueError:
                raise CommandError(
                    f"{path}, line {number}: '{','.join(row)}' is not of the form "
                    "topic,partition,offset or group,topic,partition,offset"
                ) from None
    if not plan:
        raise CommandError(f"{path} has no offsets for the group '{group}'")
    return plan
