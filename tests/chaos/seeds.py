"""The seeds of the chaos runs: a fixed few by default, any others on demand.

A failing test names its seed. More of them by hand: HEADWATER_CHAOS_SEEDS=100-200; new ones for as
long as one says: `make soak`.
"""

from __future__ import annotations

import os


def seeds(count: int) -> list[int]:
    asked = os.environ.get("HEADWATER_CHAOS_SEEDS")
    if not asked:
        return list(range(count))
    first, _, last = asked.partition("-")
    return list(range(int(first), int(last or first) + 1))
