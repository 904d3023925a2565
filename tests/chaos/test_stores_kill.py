"""A process that follows a table is killed again and again: its file always is whole batches."""

from __future__ import annotations

import operator
import random
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING

import pytest
from tests.chaos import store_follower
from tests.chaos.seeds import seeds
from tests.effort import often
from tests.integration.store_topics import StoreTopic
from tests.waiting import HUNG_AFTER_S, wait_for

from headwater.clients import ClusterAccess
from headwater.stores import Position, open_store
from headwater.stores.batches import BatchEnds
from headwater.stores.database import Database

if TYPE_CHECKING:
    from pathlib import Path

    from tests.broker_process import BrokerProcess

pytestmark = pytest.mark.chaos

KEYS = [f"key-{number:04}" for number in range(2000)]


@pytest.mark.parametrize("seed", seeds(1))
def test_kills_while_it_follows(
    broker: BrokerProcess, topic: str, tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    written = StoreTopic(broker.bootstrap_servers, topic)
    batches = store_follower.table_of(topic).batches
    assert batches is not None
    written.create(1, batches)
    ends = BatchEnds(ClusterAccess(broker.bootstrap_servers), batches, [topic])
    arguments = [broker.bootstrap_servers, topic, str(tmp_path)]
    batch = 0
    before = Position()
    for _ in range(often(4, in_soak=40)):
        follower = subprocess.Popen(
            [sys.executable, store_follower.__file__, *arguments], stdout=subprocess.PIPE
        )
        try:
            assert follower.stdout is not None
            assert follower.stdout.readline() == b"following\n"
            # Somewhere in the middle of what is being written: of a batch, or of its end.
            for _ in range(chance.randrange(1, 4)):
                batch += 1
                for key in KEYS:
                    written.send(key, batch)
                written.flush()
                ends.write({"orders": {0: batch}})
            if chance.random() < 0.5:
                wait_for(partial(_position, tmp_path), until=partial(operator.ne, before))
        finally:
            follower.kill()
            follower.wait()
            assert follower.stdout is not None
            follower.stdout.close()
        position, counts = _kept(tmp_path)
        assert before.reached_by(position), (before, position)
        assert len(counts) <= 1, counts
        assert not counts or counts == {position.offsets("orders")[0]}
        before = position
    last = Position({"orders": {0: batch}})
    with open_store(
        store_follower.table_of(topic), ClusterAccess(broker.bootstrap_servers), tmp_path
    ) as store:
        found = dict(store.all(at_least=last, timeout_s=HUNG_AFTER_S))
    assert found == {key: {"count": batch} for key in KEYS}


def _position(directory: Path) -> Position:
    import sqlite3

    with sqlite3.connect(f"file:{directory / 'counts.db'}?mode=ro", uri=True) as database:
        (text,) = database.execute("SELECT position FROM store").fetchone()
    database.close()
    return Position.from_json(text)


def _kept(directory: Path) -> tuple[Position, set[int]]:
    """Return what a start finds: how far the store has come, and the batches of what it has."""
    database = Database(directory / "counts.db", "counts")
    try:
        kept = database.kept()
        values = database.reader().execute("SELECT DISTINCT value FROM entry").fetchall()
    finally:
        database.close()
    found = {int(value.decode().split(":")[1].strip("} ")) for (value,) in values}
    return kept.position, set() if kept.is_loading else found
