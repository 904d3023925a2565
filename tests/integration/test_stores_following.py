"""Stores that follow real topics: what they show, when, and after what happened to the topic."""

from __future__ import annotations

import datetime as dt
import random
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.effort import often
from tests.integration.store_topics import WINDOWED, StoreTopic, following
from tests.waiting import HUNG_AFTER_S, wait_for

from headwater.clients import ClusterAccess
from headwater.stores import (
    Position,
    PositionNotReachedError,
    StoreClosedError,
    StoreLoadingError,
    Window,
)
from headwater.stores.batches import BatchEnds

if TYPE_CHECKING:
    from pathlib import Path

NOON = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)
MINUTE = dt.timedelta(minutes=1)


@pytest.mark.parametrize("seed", range(often(2, in_soak=50)))
def test_a_store_is_a_dict_of_the_last_values(
    bootstrap_servers: str, topic: str, tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    written = StoreTopic(bootstrap_servers, topic)
    names = [f"key-{chance.randrange(10**6)}" for _ in range(50)] + ["", "ä", "\0", "z" * 1000]
    expected: dict[str, dict[str, int]] = {}
    for _ in range(3):
        for _ in range(500):
            key = chance.choice([*names, None])
            count = chance.choice([None, chance.randrange(100)])
            written.send(key, count)
            if key is not None:
                expected.pop(key, None)
                if count is not None:
                    expected[key] = {"count": count}
        position = written.flush()
        # Opened anew each time, it goes on where it was.
        with following(written.table, bootstrap_servers, tmp_path, ready=False) as store:
            in_order = sorted(expected.items(), key=lambda entry: entry[0].encode())
            assert list(store.all(at_least=position, timeout_s=HUNG_AFTER_S)) == in_order
            assert list(store.reverse_all()) == in_order[::-1]
            assert store.approximate_num_entries() == len(expected)
            assert {key: store.get(key) for key in names} == {
                key: expected.get(key) for key in names
            }
            low, high = sorted(chance.sample(names, 2), key=str.encode)
            ranged = [
                (key, value)
                for key, value in in_order
                if low.encode() <= key.encode() <= high.encode()
            ]
            assert list(store.range(low, high)) == ranged
            assert list(store.reverse_range(low, high)) == ranged[::-1]
            assert list(store.range(upper=low)) == in_order[: in_order_until(in_order, low)]
            assert list(store.prefix_scan("key-1")) == [
                (key, value) for key, value in in_order if key.startswith("key-1")
            ]


def in_order_until(entries: list[tuple[str, Any]], last: str) -> int:
    return sum(key.encode() <= last.encode() for key, _ in entries)


def test_windows_by_key_and_time(bootstrap_servers: str, topic: str, tmp_path: Path) -> None:
    chance = random.Random(7)
    written = StoreTopic(bootstrap_servers, topic)
    table = replace(written.table, key=WINDOWED, windowed=True)
    expected: dict[tuple[str, int], int] = {}
    for _ in range(400):
        name, minute = chance.choice(["a", "a\0b", "b"]), chance.randrange(30)
        count = chance.choice([None, chance.randrange(100)])
        start = NOON + minute * MINUTE
        key = {
            "window_end": (start + MINUTE).isoformat(),
            "window_start": start.isoformat(),
            "key": name,
        }
        written.send(key, count)
        expected.pop((name, minute), None)
        if count is not None:
            expected[name, minute] = count
    position = written.flush()

    def windows(name: str, first: int = 0, last: int = 30) -> list[tuple[Window, dict[str, int]]]:
        return [
            (Window(NOON + at * MINUTE, NOON + (at + 1) * MINUTE), {"count": count})
            for (of, at), count in sorted(expected.items())
            if of == name and first <= at <= last
        ]

    with following(table, bootstrap_servers, tmp_path) as store:
        assert list(store.fetch("a", at_least=position, timeout_s=HUNG_AFTER_S)) == windows("a")
        some = NOON + 5 * MINUTE, NOON + 20 * MINUTE
        assert list(store.fetch("a", *some)) == windows("a", 5, 20)
        assert list(store.fetch("a", None, some[1])) == windows("a", last=20)
        assert list(store.backward_fetch("b", *some)) == windows("b", 5, 20)[::-1]
        assert list(store.fetch("c")) == []
        window, value = windows("b")[0]
        assert store.get("b", window.start) == value
        assert store.get("b", window.start + dt.timedelta(seconds=1)) is None
        every = [
            ((name, window), value)
            for name in ("a", "a\0b", "b")
            for window, value in windows(name, 5, 20)
        ]
        assert list(store.fetch_all(*some)) == every
        assert list(store.backward_fetch_all(*some)) == every[::-1]
        assert list(store.fetch_range("a\0b", None, *some)) == [
            entry for entry in every if entry[0][0] != "a"
        ]
        assert len(list(store.all())) == len(list(store.backward_all())) == len(expected)


def test_a_write_is_read_once_its_position_is_reached(
    bootstrap_servers: str, topic: str, tmp_path: Path
) -> None:
    written = StoreTopic(bootstrap_servers, topic)
    with following(written.table, bootstrap_servers, tmp_path) as store:
        for count in range(20):
            written.send("mine", count)
            position = written.flush()
            found = store.get("mine", at_least=position, timeout_s=HUNG_AFTER_S)
            assert found == {"count": count}
        beyond = Position({topic: {0: 10**6}})
        with pytest.raises(PositionNotReachedError, match=r"did not reach .* within 0\.01 s: it"):
            store.get("mine", at_least=beyond, timeout_s=0.01)
    with pytest.raises(StoreClosedError):
        store.get("mine")


def test_what_a_transaction_took_back_is_never_seen(
    bootstrap_servers: str, topic: str, tmp_path: Path
) -> None:
    written = StoreTopic(bootstrap_servers, topic, transactional=True)
    written.producer.init_transactions()
    with following(written.table, bootstrap_servers, tmp_path) as store:
        for count in range(6):
            written.producer.begin_transaction()
            for key in "abcdef":
                written.send(key, -1 if count % 2 else count)
            written.flush()
            seen = {key: value["count"] for key, value in store.all()}
            assert set(seen.values()) <= set(range(0, count, 2))
            if count % 2:
                written.producer.abort_transaction()
            else:
                written.producer.commit_transaction()
        wanted = {key: {"count": 4} for key in "abcdef"}
        wait_for(lambda: dict(store.all()), until=lambda found: found == wanted)


def test_no_look_up_sees_half_a_batch(bootstrap_servers: str, topic: str, tmp_path: Path) -> None:
    written = StoreTopic(bootstrap_servers, topic)
    batches = f"{topic}-batches"
    written.create(1, batches)
    table = replace(written.table, batches=batches)
    ends = BatchEnds(ClusterAccess(bootstrap_servers), batches, [topic])
    keys = [f"key-{number}" for number in range(30)]
    done = threading.Event()
    seen: list[set[int]] = []

    def look() -> None:
        while not done.is_set():
            seen.append({value["count"] for _, value in store.all(stale=True)})

    with following(table, bootstrap_servers, tmp_path, ready=False) as store:
        reader = threading.Thread(target=look)
        reader.start()
        try:
            for batch in range(10):
                for key in keys:
                    written.send(key, batch)
                    if key == keys[15]:
                        written.flush()
                written.flush()
                read = {"orders": {0: 100 * (batch + 1)}}
                if batch == 0:
                    with pytest.raises(StoreLoadingError, match="no batch of the program"):
                        store.get(keys[0])
                ends.write(read)
                if batch % 3 == 0:
                    # In terms of what the program has read, as of its own topic.
                    got = store.get(keys[0], at_least=Position(read), timeout_s=HUNG_AFTER_S)
                    assert got == {"count": batch}
        finally:
            done.set()
            reader.join()
        assert all(len(counts) <= 1 for counts in seen), seen
    # What a crash left of a batch is not shown, also by a store that comes later.
    written.send(keys[0], 99)
    written.flush()
    for directory in (tmp_path, tmp_path / "new"):
        with following(table, bootstrap_servers, directory) as store:
            assert {value["count"] for _, value in store.all()} == {9}
    ends.no_batches()
    with following(table, bootstrap_servers, tmp_path) as store:
        wait_for(lambda: store.get(keys[0]), until=lambda found: found == {"count": 99})


def test_a_snapshot_sees_one_state(bootstrap_servers: str, topic: str, tmp_path: Path) -> None:
    written = StoreTopic(bootstrap_servers, topic)
    written.send("a", 1)
    first = written.flush()
    with following(written.table, bootstrap_servers, tmp_path) as store:
        half_read = store.all(at_least=first)
        next(half_read)
        with store.snapshot() as position:
            written.send("a", 2)
            written.send("b", 2)
            second = written.flush()
            store.wait_until(second, HUNG_AFTER_S)
            assert not second.reached_by(position)
            assert dict(store.all()) == {"a": {"count": 1}}
            assert store.get("b") is None
        assert store.get("b") == {"count": 2}
        assert list(half_read) == []


def test_a_topic_made_anew_is_another_table(
    bootstrap_servers: str, topic: str, tmp_path: Path
) -> None:
    written = StoreTopic(bootstrap_servers, topic)
    written.send("old", 1)
    position = written.flush()
    with following(written.table, bootstrap_servers, tmp_path) as store:
        assert store.get("old", at_least=position, timeout_s=HUNG_AFTER_S) == {"count": 1}
        written.admin.delete_topics([topic])[topic].result()
        wait_for(lambda: topic not in written.admin.list_topics(timeout=10).topics)
        again = StoreTopic(bootstrap_servers, topic, partitions=1)
        again.send("new", 2)
        again.flush()
        # Also while it runs.
        wait_for(
            lambda: dict(store.all(stale=True)), until=lambda rows: rows == {"new": {"count": 2}}
        )


def test_a_store_that_was_away_for_too_long_starts_again(
    bootstrap_servers: str, topic: str, tmp_path: Path
) -> None:
    import sqlite3

    written = StoreTopic(bootstrap_servers, topic)
    written.send("a", 1)
    position = written.flush()
    with following(written.table, bootstrap_servers, tmp_path) as store:
        store.wait_until(position, HUNG_AFTER_S)
    # A key whose tombstone compaction has removed meanwhile.
    with sqlite3.connect(tmp_path / "counts.db") as database:
        database.execute("INSERT INTO entry VALUES (x'0678 00', '{}')".replace(" 00", "00"))
        database.execute("UPDATE store SET followed_at = followed_at - 25 * 3600")
    database.close()
    with following(written.table, bootstrap_servers, tmp_path, ready=False) as store:
        wait_for(
            lambda: dict(store.all(stale=True)), until=lambda rows: rows == {"a": {"count": 1}}
        )


def test_a_store_waits_for_its_topic(bootstrap_servers: str, topic: str, tmp_path: Path) -> None:
    missing = replace(StoreTopic(bootstrap_servers, f"{topic}-x").table, topic=topic)
    with following(missing, bootstrap_servers, tmp_path, ready=False) as store:
        wait_for(lambda: store.trouble)
        with pytest.raises(StoreLoadingError, match=f"there is no topic '{topic}' yet: start the"):
            store.get("a")
        StoreTopic(bootstrap_servers, topic)
        store.wait_until_ready(HUNG_AFTER_S)
        assert store.get("a") is None
        assert store.trouble is None
