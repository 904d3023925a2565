"""Where a group shall go on reading: works out new offsets from what a user asked for."""

from __future__ import annotations

import csv
import re
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

import click

from headwater.cli.errors import CommandError
from headwater.cli.options import duration
from headwater.cli.output import note
from headwater.clients.connection import check_topic_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from headwater.clients.connection import Connection

Place = tuple[str, int]

MAX_OFFSET = (1 << 63) - 1

_ISO_DURATION = re.compile(
    r"P(?:(?P<days>\d+)D)?"
    r"(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+(?:\.\d+)?)S)?)?"
)


class Target(NamedTuple):
    """What a user asked for; exactly one of these."""

    to_earliest: bool = False
    to_latest: bool = False
    to_current: bool = False
    to_offset: int | None = None
    shift_by: int | None = None
    to_datetime: int | None = None
    by_duration: int | None = None
    from_file: str | None = None

    @property
    def given(self) -> list[str]:
        """The options that were given, as on the command line."""
        return [
            f"--{name.replace('_', '-')}"
            for name, value in self._asdict().items()
            if value is not None and value is not False
        ]


class Planned(NamedTuple):
    """One partition and its offsets before and after."""

    topic: str
    partition: int
    current: int | None
    new: int


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


def make_plan(
    connection: Connection,
    places: Sequence[Place],
    current: Mapping[Place, int],
    target: Target,
    given: Mapping[Place, int],
    now_ms: int,
) -> list[Planned]:
    """Return the new offset of each partition, within what the partition has."""
    from confluent_kafka.admin import OffsetSpec

    starts = connection.offsets(places, OffsetSpec.earliest())
    ends = connection.offsets(places, OffsetSpec.latest())
    wanted: Mapping[Place, int]
    if target.to_earliest:
        wanted = starts
    elif target.to_latest:
        wanted = ends
    elif target.to_current:
        wanted = {place: current.get(place, ends[place]) for place in places}
    elif target.to_offset is not None:
        wanted = dict.fromkeys(places, target.to_offset)
    elif target.shift_by is not None:
        wanted = _shifted(places, current, target.shift_by)
    elif target.from_file is not None:
        wanted = given
    else:
        moment = target.to_datetime
        if moment is None:
            moment = max(now_ms - (target.by_duration or 0), 0)
        found = connection.offsets(places, OffsetSpec.for_timestamp(moment))
        # No record is as young as that: go on with the next one.
        wanted = {place: found[place] if found[place] >= 0 else ends[place] for place in places}
    return [
        Planned(*place, current.get(place), _within(place, wanted[place], starts, ends))
        for place in sorted(places)
    ]


def _shifted(places: Sequence[Place], current: Mapping[Place, int], by: int) -> dict[Place, int]:
    missing = [
        f"{topic}-{number}" for topic, number in sorted(places) if (topic, number) not in current
    ]
    if missing:
        raise CommandError(
            f"the group has no offset for {', '.join(missing)}, so that there is nothing to shift. "
            "Name partitions with --topic TOPIC:0,1 or use --to-offset"
        )
    return {place: current[place] + by for place in places}


def _within(
    place: Place, offset: int, starts: Mapping[Place, int], ends: Mapping[Place, int]
) -> int:
    bounded = min(max(offset, starts[place]), ends[place])
    if bounded != offset:
        side = "starts" if offset < bounded else "ends"
        note(f"{place[0]}-{place[1]} {side} at {bounded}, which is taken instead of {offset}.")
    return bounded
