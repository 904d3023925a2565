"""How long each file of tests takes: recorded from a whole run with `make durations`."""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from tests.runs import outcomes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.runs.outcomes import Outcome

FILE = Path(__file__).with_name("durations.json")
# What takes less has no say in the order.
_WORTH_NOTING_S = 2.0


@cache
def recorded() -> Mapping[str, float]:
    """Return the seconds of each file that was recorded; files that take next to none are not."""
    return MappingProxyType(json.loads(FILE.read_text()))


def expected(file: str) -> float:
    """Return how long a file will take; a new one comes neither first nor last."""
    return recorded().get(file, 0.0 if file.startswith("tests/unit/") else _WORTH_NOTING_S)


def by_file(told: list[Outcome]) -> dict[str, float]:
    """Add up what the tests of each file took, the longest first."""
    seconds: dict[str, float] = {}
    for outcome in told:
        file = outcome.test.partition("::")[0]
        seconds[file] = seconds.get(file, 0.0) + outcome.seconds
    longest_first = sorted(seconds.items(), key=lambda pair: -pair[1])
    return {file: round(took, 1) for file, took in longest_first}


def main() -> int:
    """Record the last run, which has to be one of all tests."""
    told = outcomes.read()
    if not told:
        print("There is no run to record: `make tests` first.")
        return 1
    seconds = by_file(told)
    noted = {file: took for file, took in seconds.items() if took >= _WORTH_NOTING_S}
    FILE.write_text(json.dumps(noted, indent=1) + "\n")
    for file, took in list(seconds.items())[:20]:
        print(f"{took:7.1f} s  {file}")
    print(f"{sum(seconds.values()):7.1f} s  in {len(seconds)} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
