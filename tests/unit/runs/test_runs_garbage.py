"""The garbage collector works while tests run, and leaves alone what was there before them."""

from __future__ import annotations

import gc


def test_what_is_there_for_good_is_left_alone() -> None:
    assert gc.isenabled()
    assert gc.get_freeze_count() > 10_000
