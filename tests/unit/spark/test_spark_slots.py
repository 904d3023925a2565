"""Task slots, counted over all jobs."""

from __future__ import annotations

import sys

import pytest

from headwater.plan.splitting.stages import split
from headwater.spark.jobs.slots import (
    Holding,
    NotEnoughSlots,
    TaskSlots,
    knows_slots,
    slots_needed,
)
from headwater.streams import App


def test_slots_are_taken_and_given_back() -> None:
    slots = TaskSlots(12)
    slots.take("a", "sql", 5)
    slots.take("b", "connect", 2)
    assert slots.free == 1
    slots.take("a", "sql", 6)
    assert (slots.free, slots.holdings["a"]) == (0, Holding("sql", 6)), "instead of the 5"
    slots.take("c", "sql", 0)
    assert sorted(slots.holdings) == ["a", "b"]
    slots.release("b")
    slots.release("nobody")
    assert slots.free == 2


def test_a_refusal_changes_nothing_and_says_what_to_do() -> None:
    slots = TaskSlots(12)
    slots.take("a", "sql", 5)
    slots.take("b", "connect", 2)
    with pytest.raises(NotEnoughSlots) as refused:
        slots.take("a", "sql", 7)
    assert str(refused.value) == (
        "the job 'a' needs 7 task slots in real-time mode, one for each partition that it reads or "
        "shuffles, and 6 of 12 are free: 'b' (of connect) holds 2, 4 are kept for micro-batches. "
        "Stop one of these; or give Spark at least 13 slots with spark.headwater.taskSlots (on one "
        "machine they are threads, and may be many more than cores); or let it run in "
        "micro-batches with spark.headwater.realTime=false"
    )
    assert slots.holdings["a"].slots == 5
    with pytest.raises(
        NotEnoughSlots, match=r"2 of 6 are free: 4 are kept .*\. Give Spark at least 7"
    ):
        TaskSlots(6).take("a", "sql", 3)


def test_a_cluster_of_unknown_size_has_enough() -> None:
    TaskSlots(sys.maxsize).take("a", "sql", 1_000_000)


def test_every_partition_that_is_read_or_shuffled_needs_one() -> None:
    app = App("a")
    app.stream("t", value_type="v int").group_by_key().count(emit="record").to_stream().to("out")
    app.stream("u", value_type="v int").to("copy")
    counted, copied = sorted(split(app.plan()), key=lambda stage: not stage.stateful)
    assert slots_needed(counted, {"t": 3}, shuffle_partitions=2) == 5
    assert slots_needed(copied, {"u": 4}, shuffle_partitions=2) == 4


def test_a_join_by_foreign_key_shuffles_three_times() -> None:
    app = App("app")
    orders, customers = app.table("o", value_type="c string"), app.table("c", value_type="n int")
    orders.join(customers, foreign_key="c").to_stream().to("out")
    (joined,) = split(app.plan())
    assert slots_needed(joined, {"o": 1, "c": 2}, shuffle_partitions=2) == 3 + 3 * 2


@pytest.mark.parametrize(
    ("conf", "known"),
    [
        ({"spark.cores.max": "8"}, True),
        ({"spark.executor.instances": "2", "spark.executor.cores": "4"}, True),
        ({"spark.executor.cores": "4"}, False),
        ({}, False),
    ],
)
def test_a_cluster_s_slots_are_known_by_its_settings(conf: dict[str, str], known: bool) -> None:
    assert knows_slots(conf) is known
