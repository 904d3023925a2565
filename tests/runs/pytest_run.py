"""One run of pytest in a process of its own, for programs that run tests again and again."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.runs import outcomes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.runs.outcomes import Outcome


_FILE = outcomes.FILE.with_name("outcomes-of-some.json")

# One after the other in their groups, as `make tests` runs them.
SIDE_BY_SIDE = ("-n", "2", "--dist", "loadscope", "--no-loadscope-reorder")


def run_pytest(
    *arguments: str, environment: Mapping[str, str] | None = None
) -> tuple[list[Outcome], list[Outcome]]:
    """Run tests to their end; returns what passed, or was skipped, and what failed.

    A run that ends without a word on any test counts as one failure.
    """
    _FILE.unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *arguments],
        env={**os.environ, outcomes.VARIABLE: str(_FILE), **(environment or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    told = outcomes.read(_FILE)
    failed = [each for each in told if each.failure]
    if done.returncode and not failed:
        failed = [outcomes.Outcome(" ".join(arguments), 0.0, done.stdout)]
    return [each for each in told if not each.failure], failed
