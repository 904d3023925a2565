"""Waits for what others do in their own time, and says what it waited for if that never comes."""

from __future__ import annotations

import inspect
import textwrap
import time
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

# Only a hang takes as long, also when the machine has much else to do.
HUNG_AFTER_S = 180.0

# Short beside what was waited for already, and long enough to leave the processor to others: who
# asks a server fifty times a second keeps it, and all others, from what is waited for.
_SHORTEST_PAUSE_S, _LONGEST_PAUSE_S = 0.02, 0.1
_OF_TIME_WAITED = 0.02


def wait_for(
    ask: Callable[[], T],
    what: Callable[[], str] | str = "",
    *,
    until: Callable[[T], object] = bool,
    within_s: float = HUNG_AFTER_S,
) -> T:
    """Ask until the answer is right, by default until it is true, and return it.

    An answer that never comes fails the test. The failure tells the last answer and what was
    asked, or `what`; give that as a function where it takes a look at the state of things.
    """
    started = time.monotonic()
    while not until(answer := ask()):
        waited = time.monotonic() - started
        if waited > within_s:
            told = (what if isinstance(what, str) else what()) or _source(ask)
            raise AssertionError(f"after {within_s:.0f} s it is still {answer!r}: {told}")
        time.sleep(min(max(_OF_TIME_WAITED * waited, _SHORTEST_PAUSE_S), _LONGEST_PAUSE_S))
    return answer


def _source(ask: Callable[[], Any]) -> str:
    try:
        return textwrap.dedent(inspect.getsource(ask)).strip()
    except (OSError, TypeError):  # typed into an interpreter, or made by functools
        return repr(ask)
