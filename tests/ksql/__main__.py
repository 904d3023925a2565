"""Judges a folder of ksqlDB's query validation tests, which are public and not ours to copy.

    python -m tests.ksql FOLDER [--letters abc]

So far there is one tier: whether each statement is read. Files outside --letters stay unread, so
that some are left to judge by what nobody looked at.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.ksql.cases import read_cases
from tests.ksql.judgement import Judgement, Outcome, judge


def main() -> int:
    """Print what failed, then the shares; returns whether something failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--letters", default="abcdefghijklm", help="first letters of file names")
    arguments = parser.parse_args()
    judgement = judge(read_cases(arguments.folder, arguments.letters))
    _report(judgement)
    return 1 if judgement.failures else 0


def _report(judgement: Judgement) -> None:
    for failure in judgement.failures:
        print(f"{failure.case.file}: {failure.case.name}\n{failure.reason}\n")
    total = sum(judgement.outcomes.values())
    for outcome in Outcome:
        count = judgement.outcomes[outcome]
        print(f"{outcome.value}: {count} of {total} ({100 * count / max(1, total):.2f} %)")
    print(f"right: {100 * judgement.share_right:.2f} %")


if __name__ == "__main__":
    raise SystemExit(main())
