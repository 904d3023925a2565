"""Where a group shall go on reading: works out new offsets from what was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headwater.clients.errors import ClientError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.clients.connection import Connection

Place = tuple[str, int]


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
    asked: int
    """What was asked for; `new` is the nearest offset that the partition has."""


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
        Planned(
            *place,
            current.get(place),
            min(max(wanted[place], starts[place]), ends[place]),
            wanted[place],
        )
        for place in sorted(places)
    ]


def _shifted(places: Sequence[Place], current: Mapping[Place, int], by: int) -> dict[Place, int]:
    missing = [
        f"{topic}-{number}" for topic, number in sorted(places) if (topic, number) not in current
    ]
    if missing:
        raise ClientError(
            f"the group has no offset for {', '.join(missing)}, so that there is nothing to shift. "
            "Name partitions with --topic TOPIC:0,1 or use --to-offset"
        )
    return {place: current[place] + by for place in places}
