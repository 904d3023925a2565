"""Timers: they go off when they should, also when they are moved a thousand times."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headwater.broker.groups.timers import Timers


class Bench:
    def __init__(self) -> None:
        self.now = 0
        self.fired: list[tuple[int, str]] = []
        self.wakes: list[int] = []
        self.timers = Timers(lambda: self.now, self.wakes.append)

    def set(self, key: str, delay: int) -> None:
        self.timers.set(key, delay, lambda: self.fired.append((self.now, key)))

    def run_to(self, end: int) -> None:
        while self.timers.next_at is not None and self.timers.next_at <= end:
            self.now = max(self.now, self.timers.next_at)
            self.timers.fire()
        self.now = end


def test_goes_off_once_and_in_time() -> None:
    bench = Bench()
    bench.set("late", 20)
    bench.set("early", 10)
    bench.run_to(9)
    assert bench.fired == []
    bench.run_to(100)
    assert bench.fired == [(10, "early"), (20, "late")]


def test_moved_to_a_later_time() -> None:
    bench = Bench()
    bench.set("session", 10)
    for _ in range(5):
        bench.run_to(bench.now + 5)
        bench.set("session", 10)
    assert bench.fired == []
    bench.run_to(100)
    assert bench.fired == [(35, "session")]


def test_moved_to_an_earlier_time() -> None:
    bench = Bench()
    bench.set("x", 100)
    bench.set("x", 10)
    bench.run_to(200)
    assert bench.fired == [(10, "x")]


def test_cancelled() -> None:
    bench = Bench()
    bench.set("x", 10)
    bench.timers.cancel("x")
    bench.timers.cancel("never set")
    assert "x" not in bench.timers
    bench.run_to(100)
    assert bench.fired == []


def test_wakes_for_the_earliest_only() -> None:
    bench = Bench()
    bench.set("a", 50)
    bench.set("b", 80)
    bench.set("c", 20)
    assert bench.wakes == [50, 20]


def test_a_callback_may_set_its_own_timer_again() -> None:
    bench = Bench()

    def again() -> None:
        bench.fired.append((bench.now, "again"))
        if bench.now < 30:
            bench.timers.set("again", 10, again)

    bench.timers.set("again", 10, again)
    bench.run_to(100)
    assert bench.fired == [(10, "again"), (20, "again"), (30, "again")]


actions = st.lists(
    st.tuples(
        st.sampled_from(["set", "cancel", "run"]),
        st.sampled_from(["a", "b", "c"]),
        st.integers(0, 30),
    )
)


@given(actions)
def test_behaves_like_a_dictionary_of_times(steps: list[tuple[str, str, int]]) -> None:
    bench = Bench()
    expected: dict[str, int] = {}
    for action, key, number in steps:
        if action == "set":
            bench.set(key, number)
            expected[key] = bench.now + number
        elif action == "cancel":
            bench.timers.cancel(key)
            expected.pop(key, None)
        else:
            bench.fired.clear()
            end = bench.now + number
            due = sorted((at, key) for key, at in expected.items() if at <= end)
            bench.run_to(end)
            assert sorted(bench.fired) == due
            for _, key in due:
                del expected[key]
