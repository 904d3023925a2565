"""How often the supervisor looks, and how long it waits."""

from __future__ import annotations

from dataclasses import dataclass

from headwater.up.health import ANSWER_WITHIN_S


@dataclass(frozen=True)
class Timing:
    """How often to look, when to restart, and how long to wait before that."""

    look_every_s: float = 5.0
    look_while_starting_s: float = 0.05
    say_still_starting_s: float = 15.0
    answer_within_s: float = ANSWER_WITHIN_S
    # A service that answered once and then missed so many checks in a row is restarted; 0: never.
    # Two minutes: a machine that is only busy must not look like a service that hangs.
    restart_after_misses: int = 24
    first_pause_s: float = 0.5
    longest_pause_s: float = 30.0
    # A service that ran so long was fine: its next death is a first one again.
    fine_after_s: float = 60.0
    # How long the guard waits before it kills what a killed supervisor has left behind.
    guard_kills_after_s: float = 10.0

    def pause_s(self, deaths: int) -> float:
        """Return how long to wait after so many deaths in a row."""
        return min(self.first_pause_s * 2.0 ** (deaths - 1), self.longest_pause_s)
