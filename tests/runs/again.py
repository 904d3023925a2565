"""Runs what failed in the last run once more, alone: `python -m tests.runs.again`.

What passes now is flaky. It is printed with its first failure, so that somebody mends its cause.
The run as a whole is well if all of it passed, and if it is no more than a few tests.
"""

from __future__ import annotations

import sys

from tests.runs import outcomes
from tests.runs.pytest_run import run_pytest

FLAKY_AT_MOST = 2
# So many failures are no accident, and to run them one by one would take the rest of CI's time.
WORTH_A_TRY = 10


def main() -> int:
    """Return 0 if at most two tests had failed, and each passes alone."""
    failed = [outcome for outcome in outcomes.read() if outcome.failure]
    if not failed:
        print("No test failed: the reason stands above, and is not run again.")
        return 1
    if len(failed) > WORTH_A_TRY:
        print(f"{len(failed)} tests failed, too many to be flaky: none is run again.")
        return 1
    flaky = [outcome for outcome in failed if _passes(outcome.test)]
    _report(flaky)
    broken = len(failed) - len(flaky)
    print(f"\nRun again, alone: {len(flaky)} passed (FLAKY), {broken} failed again.")
    if len(flaky) > FLAKY_AT_MOST:
        print(f"More than {FLAKY_AT_MOST} flaky tests are a failure.")
    return int(bool(broken) or len(flaky) > FLAKY_AT_MOST)


def _passes(test: str) -> bool:
    print(f"\nRunning again, alone: {test}", flush=True)
    _, failed = run_pytest(test)
    for outcome in failed:
        print(outcome.failure)
    return not failed


def _report(flaky: list[outcomes.Outcome]) -> None:
    for outcome in flaky:
        print(f"\n{'=' * 20} FLAKY: {outcome.test}\nIt passed alone. Its first failure was:\n")
        print(outcome.failure)


if __name__ == "__main__":
    sys.exit(main())
