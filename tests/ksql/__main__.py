"""Judges a folder of ksqlDB's query validation tests, which are public and not ours to copy.

    python -m tests.ksql FOLDER [--letters abc] [--run 'between*']

There are three tiers: whether each statement is read, whether each case is refused where it
expects that, and otherwise makes sources of the schemas it expects, and whether the queries of a
case that has records can be planned. Files outside --letters stay
unread, so that some are left to judge by what nobody looked at.

With --run the cases of some files are run by Spark instead, over their records and without a
broker, and judged by the records that come out: in order, or where state is kept by key each
key's in order.
"""

from __future__ import annotations

import argparse
import sys
from fnmatch import fnmatch
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from tests.ksql.cases import read_cases
from tests.ksql.judgement import (
    Judgement,
    Outcome,
    judge_plans,
    judge_reading,
    judge_records,
    judge_statements,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.ksql.cases import Case


def main() -> int:
    """Print what failed, then the shares; returns whether a statement was not read."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--letters", default="abcdefghijklm", help="first letters of file names")
    parser.add_argument(
        "--run", metavar="FILES", help="run the cases of these files, by patterns with commas"
    )
    arguments = parser.parse_args()
    cases = list(read_cases(arguments.folder, arguments.letters))
    if arguments.run is not None:
        patterns = arguments.run.split(",")
        _run([case for case in cases if any(fnmatch(case.file, each) for each in patterns)])
        return 0
    statements = judge_statements(cases)
    plans = judge_plans(cases)
    reading = judge_reading(cases)
    _report("refusals and schemas, by case", statements)
    _report("plans, by case", plans)
    _report("reading, by statement", reading)
    return 1 if reading.failures else 0


def _run(cases: Sequence[Case]) -> None:
    """Run cases file by file, so that whoever stops it has seen those before."""
    from tests.ksql.execution import CaseRuns

    whole, runs = Judgement(), CaseRuns()
    for file, of_file in groupby(cases, key=lambda case: case.file):
        judgement = judge_records(of_file, runs)
        whole.add(judgement)
        _report(f"{file}, exact records by case", judgement)
        sys.stdout.flush()
    whole.failures.clear()
    _report("all files, exact records by case", whole)
    for reason, count in whole.reasons.most_common():
        print(f"    {count:4} {reason}")


def _report(tier: str, judgement: Judgement) -> None:
    for failure in judgement.failures:
        print(f"{failure.case.file}: {failure.case.name}\n{failure.reason}\n")
    total = sum(judgement.outcomes.values())
    print(f"{tier}: {total}")
    for outcome in Outcome:
        count = judgement.outcomes[outcome]
        if count:
            print(f"  {outcome.value}: {count} ({100 * count / total:.2f} %)")


if __name__ == "__main__":
    raise SystemExit(main())
