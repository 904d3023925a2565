"""How often a test tries something: a few times in `make test`, many times in `make soak`.

A few are enough to notice what a change broke. What shows once in a thousand tries is looked for
where time is no matter, with new seeds.
"""

from __future__ import annotations

import os

# Set by `make soak`; by hand, to see again what it found.
VARIABLE = "HEADWATER_SOAK"


def often(usual: int, *, in_soak: int) -> int:
    """Return how often to try: kills of a run, examples of a property."""
    return in_soak if os.environ.get(VARIABLE) == "1" else usual
