"""Both kinds of index against plain lists, and the damage that they must notice."""

from __future__ import annotations

import tempfile
from bisect import bisect_right
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.log.indexes.index_file import CorruptIndex
from headwater.log.indexes.offset_index import OffsetIndex
from headwater.log.indexes.time_index import TimeIndex

BASE = 5_000_000_000

steps = st.lists(st.integers(1, 50), max_size=60)
# Long enough that a search has to narrow down before it reads a block.
long_steps = st.lists(st.integers(1, 50), min_size=1100, max_size=1600)


@given(st.one_of(steps, long_steps), st.lists(st.integers(-100, 3000), min_size=1, max_size=20))
def test_offset_index_finds_what_a_list_would(increments: list[int], targets: list[int]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        index = OffsetIndex(f"{directory}/{BASE:020d}.index", BASE)
        index.create()
        model: list[tuple[int, int]] = []
        offset = 0
        for number, increment in enumerate(increments):
            offset += increment
            model.append((BASE + offset, (number + 1) * 4097))
            index.append(*model[-1])
        assert [index.entry(number) for number in range(index.count)] == model
        before = [index.lookup(BASE + target) for target in targets]
        index.store()
        reopened = OffsetIndex(index.path, BASE)
        reopened.load()
        reopened.check(segment_size=1 << 30)

        assert [reopened.entry(number) for number in range(reopened.count)] == model
        keys = [key for key, _ in model]
        for target in (*targets, *(key - BASE for key in keys[-3:])):
            floor = bisect_right(keys, BASE + target) - 1
            expected = model[floor][1] if floor >= 0 else 0
            assert index.lookup(BASE + target) == reopened.lookup(BASE + target) == expected
        assert before == [index.lookup(BASE + target) for target in targets]


@given(st.integers(65, 200), st.integers(0, 60), st.booleans())
def test_a_shortened_index_goes_on_where_it_was_cut(total: int, keep: int, is_stored: bool) -> None:
    with tempfile.TemporaryDirectory() as directory:
        index = OffsetIndex(f"{directory}/{BASE:020d}.index", BASE)
        index.create()
        # More entries than are written together: some are in the file, some are not yet.
        entries = [(BASE + number, number * 4097) for number in range(1, total)]
        for entry in entries:
            index.append(*entry)
        if is_stored:
            index.store()
        index.truncate(keep)
        index.append(BASE + 1000, 1 << 20)
        index.release()

        reopened = OffsetIndex(index.path, BASE)
        reopened.load()
        kept = [*entries[:keep], (BASE + 1000, 1 << 20)]
        assert [index.entry(number) for number in range(index.count)] == kept
        assert [reopened.entry(number) for number in range(reopened.count)] == kept


@pytest.mark.parametrize("kind", [OffsetIndex, TimeIndex])
def test_the_disk_holds_a_place_for_entries_that_are_still_in_memory(
    tmp_path: Path, kind: type[OffsetIndex | TimeIndex]
) -> None:
    index = kind(str(tmp_path / "index"), 0)
    index.create()
    size = index.entry_format.size
    lagged = 0
    for number in range(1, 2000):
        index.append(number, number)
        in_file = index.file.size
        lagged = max(lagged, number * size - in_file)
        # Whole blocks of the disk: writing the rest takes no other.
        assert -(-in_file // 4096) == -(-number * size // 4096)
    assert lagged == 63 * size


@given(
    st.lists(st.tuples(st.integers(-5, 40), st.integers(1, 9)), max_size=60),
    st.lists(st.integers(-50, 900), min_size=1, max_size=20),
)
def test_time_index_keeps_growing_timestamps_only(
    moves: list[tuple[int, int]], targets: list[int]
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        index = TimeIndex(f"{directory}/{BASE:020d}.timeindex", BASE)
        index.create()
        model: list[tuple[int, int]] = []
        timestamp = offset = 0
        for change, increment in moves:
            timestamp += change
            offset += increment
            index.append(timestamp, BASE + offset)
            if timestamp > (model[-1][0] if model else -1):
                model.append((timestamp, BASE + offset))
        index.store()
        reopened = TimeIndex(index.path, BASE)
        reopened.load()
        reopened.check()

        assert [reopened.entry(number) for number in range(reopened.count)] == model
        assert (reopened.last_timestamp, reopened.last_offset) == (
            model[-1] if model else (-1, BASE)
        )
        for target in targets:
            above = [offset for timestamp, offset in model if timestamp > target]
            assert reopened.first_above(target) == len(model) - len(above)


def offset_index(tmp_path: Path, *entries: tuple[int, int]) -> OffsetIndex:
    index = OffsetIndex(str(tmp_path / f"{0:020d}.index"), 0)
    index.create()
    for entry in entries:
        index.append(*entry)
    index.store()
    return index


def test_space_that_kafka_reserved_is_dropped_on_load(tmp_path: Path) -> None:
    index = offset_index(tmp_path, (3, 5000), (9, 11000))
    path = Path(index.path)
    path.write_bytes(path.read_bytes() + bytes(10_000))

    reopened = OffsetIndex(index.path, 0)
    reopened.load()

    assert reopened.count == 2
    assert path.stat().st_size == 16
    reopened.append(12, 16000)
    assert reopened.lookup(12) == 16000


def test_reserved_space_alone_is_an_empty_index(tmp_path: Path) -> None:
    path = tmp_path / f"{0:020d}.timeindex"
    path.write_bytes(bytes(1200))
    index = TimeIndex(str(path), 0)
    index.load()

    assert index.count == 0
    assert path.stat().st_size == 0


@pytest.mark.parametrize(
    ("content", "segment_size"),
    [
        (b"12345", 1 << 20),
        (bytes.fromhex("00000009 00001388 00000003 00002af8"), 1 << 20),
        (bytes.fromhex("00000003 00001388 00000009 00002af8"), 0x2AF8),
        (bytes.fromhex("00000003 00001388 00000009 ffffffff"), 1 << 20),
        (bytes.fromhex("ffffffff 00001388"), 1 << 20),
    ],
    ids=["half an entry", "offsets fall", "points past the end", "negative", "before the base"],
)
def test_damaged_offset_index_is_noticed(tmp_path: Path, content: bytes, segment_size: int) -> None:
    path = tmp_path / f"{0:020d}.index"
    path.write_bytes(content)
    index = OffsetIndex(str(path), 0)

    def load() -> None:
        index.load()
        index.check(segment_size)

    with pytest.raises(CorruptIndex):
        load()


@pytest.mark.parametrize(
    "content",
    [
        b"1234567890123",
        bytes.fromhex("00000000000000ff 00000003 00000000000000aa 00000009"),
        bytes.fromhex("00000000000000aa 00000009 00000000000000ff 00000003"),
    ],
    ids=["half an entry", "timestamps fall", "offsets fall"],
)
def test_damaged_time_index_is_noticed(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / f"{0:020d}.timeindex"
    path.write_bytes(content)
    index = TimeIndex(str(path), 0)

    def load() -> None:
        index.load()
        index.check()

    with pytest.raises(CorruptIndex):
        load()


def test_indexes_have_as_many_entries_as_the_setting_has_room_for() -> None:
    assert OffsetIndex.most_entries(24) == 3
    assert OffsetIndex.most_entries(23) == 2

    # One entry is kept free for the end of the segment.
    assert TimeIndex.most_entries(36) == 2
    assert TimeIndex.most_entries(35) == 1


def test_a_released_index_opens_again_by_itself(tmp_path: Path) -> None:
    index = offset_index(tmp_path, (3, 5000), (9, 11000))
    index.release()

    assert index.lookup(10) == 11000
    index.release()
    index.append(12, 16000)
    assert index.lookup(13) == 16000
