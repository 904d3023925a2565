"""Records of joined streams that met nobody: which of them Kafka Streams writes too early."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.differential.streams_programs import AFTER, BEFORE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tests.differential.kafka_streams import Given

    Example = list[Given]
    Results = dict[str, list[tuple[str | None, int]]]


def take_back_early(results: Results, examples: Iterable[Example], topic: str) -> None:
    """Remove what says of a record that it met nobody, where a later one meets it.

    Kafka Streams writes that of records that come when their span, without the grace, has passed.
    """
    reach, back = (AFTER, BEFORE) if topic == "a" else (BEFORE, AFTER)
    for example in examples:
        key = example[0].key
        for index, given in enumerate(example if key is not None else ()):
            met = [
                number
                for number, other in enumerate(example)
                if other.topic != topic and given.time - back <= other.time <= given.time + reach
            ]
            passed = max(each.time for each in example[: index + 1]) > given.time + reach
            if given.topic == topic and passed and met and min(met) > index:
                value = f"{given.value}|null" if topic == "a" else f"null|{given.value}"
                results[str(key)].remove((value, given.time))


def passed_within(example: Example, grace: int, kind: str) -> Iterator[tuple[str, str, int]]:
    """Yield what Kafka Streams may say too early: records whose span has passed, not the grace."""
    latest = 0
    for given in example:
        latest = max(latest, given.time)
        reach = AFTER if given.topic == "a" else BEFORE
        is_kept = kind == "outer" or (kind == "left" and given.topic == "a")
        passed = given.time + reach < latest <= given.time + reach + grace
        if given.key is not None and is_kept and passed:
            alone = f"{given.value}|null" if given.topic == "a" else f"null|{given.value}"
            yield given.key, alone, given.time


def without(results: Results, some: set[tuple[str, str, int]]) -> Results:
    """Leave some out, which are named by key, value and time."""
    left = {
        key: [each for each in records if (key, *each) not in some]
        for key, records in results.items()
    }
    return {key: records for key, records in left.items() if records}


def met(results: Results) -> Results:
    """Return the pairs alone."""
    return {
        key: [each for each in records if "null" not in (each[0] or "")]
        for key, records in results.items()
    }
