"""Where a stream begins without a checkpoint, as a program says it."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeAlias

from headwater.plan.errors import PlanError
from headwater.plan.nodes import Start

StartLike: TypeAlias = "str | datetime.datetime | Mapping[str, Mapping[int, int]]"


def as_start(given: StartLike, topics: tuple[str, ...]) -> Start:
    """Return the start of a source that reads these topics; refuse what means none.

    >>> as_start({"orders": {0: 42}}, ("orders",)).offsets
    {'orders': {0: 42}}
    """
    if isinstance(given, datetime.datetime):
        if given.tzinfo is None:
            raise PlanError(f"start={given} needs a time zone: add tzinfo=datetime.UTC")
        timestamp_ms = int(given.timestamp() * 1_000)
        if timestamp_ms < 0:
            raise PlanError(f"start={given} is before 1970, where no record can be")
        return Start("timestamp", timestamp_ms=timestamp_ms)
    if given == "earliest":
        return Start("earliest")
    if given == "latest":
        return Start("latest")
    if not isinstance(given, Mapping):
        raise PlanError(f"start={given!r} is neither {_WHAT_IT_MAY_BE}")
    return Start(
        "offsets", offsets={topic: _offsets(topic, each, topics) for topic, each in given.items()}
    )


_WHAT_IT_MAY_BE = "'earliest' nor 'latest', nor a datetime, nor offsets as {\"topic\": {0: 42}}"


def _offsets(topic: Any, given: Any, topics: tuple[str, ...]) -> dict[int, int]:
    if topic not in topics:
        raise PlanError(
            f"start names the topic {topic!r}, which this stream does not read: it reads "
            f"{', '.join(topics)}"
        )
    if not isinstance(given, Mapping):
        raise PlanError(
            f"start has {given!r} for {topic!r}: give an offset by partition, as {{0: 42}}"
        )
    for partition, offset in given.items():
        for name, number in (("partition", partition), ("offset", offset)):
            if type(number) is not int or number < 0:
                raise PlanError(
                    f"start has {number!r} as {name} in {topic!r}: it is a number from 0 on; "
                    "leave a partition out to read it from its beginning"
                )
    return dict(given)
