"""Random appends, commits, flushes and removals, a power cut, a start: nothing safe is lost."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from tests.unit.log.log_batches import NOW, append, assert_files_are_sound, read_all
from tests.unit.log.power_cut import Disk, journal_files

from headwater.log.config import LogConfig
from headwater.log.journal.journal import LEAST_BYTES
from headwater.log.journal.journal_format import BLOCK, LogId, decode_group_header, group_size
from headwater.log.journal.replay import replay
from headwater.log.manager import LogManager
from headwater.log.storage_faults import StorageFaults

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.log.manager import TopicPartition

LIVES = 3
STEPS = 60
TOPICS = {("a", 0): bytes([1] * 16), ("a", 1): bytes([1] * 16), ("b", 0): bytes([2] * 16)}
CONFIG = LogConfig(segment_bytes=10_000, index_interval_bytes=200, file_delete_delay_ms=0)
WANTED = {key: (topic_id, CONFIG) for key, topic_id in TOPICS.items()}


class World:
    """A data directory, and what has been appended to its logs and what of that is safe."""

    def __init__(self, data_dir: Path, disk: Disk, chance: random.Random) -> None:
        self.data_dir, self.disk, self.chance = data_dir, disk, chance
        self.appended: dict[TopicPartition, dict[int, bytes | None]] = {key: {} for key in TOPICS}
        self.safe = dict.fromkeys(TOPICS, 0)
        self.logs = self.start()

    def start(self) -> LogManager:
        logs = LogManager(self.data_dir, CONFIG, LEAST_BYTES)
        logs.load(WANTED, NOW)
        return logs

    def append(self, key: TopicPartition, size: int) -> None:
        value = self.chance.randbytes(size)
        self.appended[key][append(self.logs.logs[key], value).base_offset] = value

    def commit(self, *keys: TopicPartition, tell: bool = True) -> None:
        assert self.logs.journal is not None
        ids = [(LogId(TOPICS[key], key[1]), self.logs.logs[key]) for key in keys]
        for key, end in zip(keys, self.logs.journal.commit(ids), strict=True):
            assert not isinstance(end, Exception), end
            if tell:
                self.safe[key] = end.offset

    def step(self) -> None:
        key = self.chance.choice(list(TOPICS))
        log = self.logs.logs[key]
        what = self.chance.random()
        if what < 0.55:
            self.append(key, self.chance.choice([10, 500, 3000]))
        elif what < 0.85:
            self.commit(*self.chance.sample(list(TOPICS), self.chance.randint(1, 3)))
        elif what < 0.9:
            log.flush()
        elif what < 0.93:
            self.logs.checkpoint()
        elif what < 0.96:
            log.roll(NOW)
        else:
            log.delete_records(self.chance.randint(0, self.safe[key]))
            log.apply_retention(NOW)
            log.purge_deleted(NOW)

    def check(self) -> None:
        for key, log in self.logs.logs.items():
            found = {record.offset: record.value for record in read_all(log)}
            assert log.log_end_offset >= self.safe[key], key
            assert found.items() <= self.appended[key].items()
            lost = [
                offset
                for offset in self.appended[key]
                if log.log_start_offset <= offset < self.safe[key] and offset not in found
            ]
            assert not lost, key
            assert_files_are_sound(log.directory)
            self.appended[key] = found
            self.safe[key] = log.log_end_offset
        assert self.logs.faults.journal_gaps == 0
        assert not journal_files(self.data_dir)


@pytest.mark.parametrize("seed", range(12))
def test_what_was_committed_survives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    chance = random.Random(seed)
    disk = Disk(tmp_path, monkeypatch)
    world = World(tmp_path, disk, chance)
    for _ in range(LIVES):
        for _ in range(STEPS):
            world.step()
        if chance.random() < 0.5:
            # The cut comes while a group is being written: nobody is told of it.
            world.append(("a", 0), 9000)
            world.commit(*TOPICS, tell=False)
            tear_last_group(tmp_path, chance)
        disk.cut_power(chance)
        while chance.random() < 0.4:
            # The power fails again while the journal is being replayed.
            replay(tmp_path, directories(tmp_path), StorageFaults())
            disk.cut_power(chance)
        world.logs = world.start()
        world.check()
    world.logs.close()
    world.logs = world.start()
    world.check()


def directories(data_dir: Path) -> dict[LogId, tuple[Path, int]]:
    return {
        LogId(topic_id, key[1]): (data_dir / f"{key[0]}-{key[1]}", 0)
        for key, topic_id in TOPICS.items()
    }


def tear_last_group(data_dir: Path, chance: random.Random) -> None:
    """Take some of the blocks of the group that was written last."""
    headers = [
        (header.number, path, position, header.length)
        for path in journal_files(data_dir)
        for position in range(0, path.stat().st_size, BLOCK)
        for header in [decode_group_header(path.read_bytes()[position : position + BLOCK])]
        if header is not None
    ]
    _, path, start, length = max(headers)
    blocks = range(start, start + group_size(length), BLOCK)
    content = bytearray(path.read_bytes())
    for block in chance.sample(blocks, chance.randint(1, len(blocks))):
        content[block : block + BLOCK] = chance.choice([bytes(BLOCK), chance.randbytes(BLOCK)])
    path.write_bytes(content)
