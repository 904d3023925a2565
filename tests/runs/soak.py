"""Kills, torn writes and random programs with new seeds, for as long as one says: `make soak`.

Each round runs the chaos tests with seeds that no run had before, and the properties of Hypothesis
with new examples, and of both more than `make test` has time for. What fails is written to a file,
with what is needed to see it again.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path

from tests import effort
from tests.runs.pytest_run import SIDE_BY_SIDE, run_pytest

_EVERYTHING = (
    "tests/chaos",
    "tests/differential",
    "tests/integration/test_connect_cdc_killed.py",
    "tests/integration/test_connect_killed.py",
    "tests/integration/test_streams_reference.py",
    "tests/unit",
)
_SEEDS_A_ROUND = 3


def main() -> int:
    """Run rounds until the time is over or Ctrl-C; returns whether something was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3600.0, help="begin no round after this")
    parser.add_argument("--findings", type=Path, default=Path("soak-findings.txt"))
    parser.add_argument("tests", nargs="*", default=_EVERYTHING)
    options = parser.parse_args()
    ends = time.monotonic() + options.seconds
    rounds = passed = found = 0
    try:
        while time.monotonic() < ends:
            rounds += 1
            seeds = _new_seeds()
            well, failed = run_pytest(*SIDE_BY_SIDE, *options.tests, environment=seeds)
            passed += len(well)
            found += len(failed)
            if failed:
                _write(options.findings, seeds, [(each.test, each.failure) for each in failed])
            print(f"round {rounds}: {len(well)} passed, {len(failed)} failed  {seeds}", flush=True)
    except KeyboardInterrupt:
        print("\nstopped")
    told = f", see {options.findings}" if found else ""
    print(f"{rounds} rounds: {passed} passed, {found} failed{told}")
    return int(found > 0)


def _new_seeds() -> dict[str, str]:
    first = random.SystemRandom().randrange(1_000, 2**31)
    seeds = f"{first}-{first + _SEEDS_A_ROUND - 1}"
    return {"HEADWATER_CHAOS_SEEDS": seeds, effort.VARIABLE: "1"}


def _write(file: Path, seeds: dict[str, str], failures: list[tuple[str, str]]) -> None:
    environment = " ".join(f"{name}={value}" for name, value in seeds.items())
    with file.open("a") as findings:
        for test, failure in failures:
            findings.write(f"{'=' * 20} {time.strftime('%F %T')} {test}\n")
            findings.write(f"again: {environment} python -m pytest '{test}'\n\n{failure}\n\n")


if __name__ == "__main__":
    sys.exit(main())
