"""The map of last offsets against a dictionary, up to and beyond its capacity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.log.compaction.offset_map import BYTES_PER_KEY, OffsetMap, memory_for

if TYPE_CHECKING:
    from headwater.log.records.record_scan import ScannedRecord


def scanned(keys: list[bytes | None]) -> list[ScannedRecord]:
    return [(0, 0, delta, key, False) for delta, key in enumerate(keys)]


@settings(deadline=None)
@given(
    st.lists(
        st.lists(st.none() | st.integers(0, 40).map(lambda i: b"k%d" % i), max_size=20), max_size=20
    ),
    st.integers(0, 60) | st.just(5000),
)
def test_against_a_dictionary(batches: list[list[bytes | None]], slots: int) -> None:
    offset_map = OffsetMap(slots * BYTES_PER_KEY)
    model: dict[bytes, int] = {}
    base = 0
    for keys in batches:
        fits = offset_map.put_all(base, scanned(keys))
        for delta, key in enumerate(keys):
            if key is not None and (key in model or len(model) < offset_map.capacity):
                model[key] = base + delta
            elif key is not None:
                break
        if not fits:
            break
        base += len(keys)
        offset_map.latest_offset = base - 1
    assert offset_map.size == len(model) <= offset_map.capacity
    assert offset_map.latest_offset == max([base - 1, *model.values()])
    everything = [key for keys in batches for key in keys]
    expected = [
        offset
        for offset, key in enumerate(everything)
        if offset > offset_map.latest_offset or (key is not None and model[key] == offset)
    ]
    # The key of an offset up to the latest one is always in the model.
    assert [record[2] for record in offset_map.latest_of(0, scanned(everything))] == expected


def test_a_full_map_finds_all_and_misses_none() -> None:
    keys: list[bytes | None] = [b"key-%d" % i for i in range(20_000)]
    offset_map = OffsetMap(10_000 * BYTES_PER_KEY, load_factor=0.99)
    assert not offset_map.put_all(0, scanned(keys))
    assert offset_map.size == offset_map.capacity == offset_map.latest_offset + 1
    assert 0.98 < offset_map.utilization < 1
    known = [record[2] for record in offset_map.latest_of(-1, scanned(keys))]
    # One offset lower, all that the map knows are replaced; the others are not known to be.
    assert known == list(range(offset_map.capacity, 20_000))


def test_records_before_the_dirty_part_are_left_out() -> None:
    offset_map = OffsetMap(1000)
    assert offset_map.put_all(10, scanned([b"a", b"b", b"c"]), from_offset=12)
    assert offset_map.size == 1
    assert [record[3] for record in offset_map.latest_of(0, scanned([b"a", b"b", b"c"]))] == [
        b"a",
        b"b",
    ]


def test_the_memory_is_what_was_asked_for() -> None:
    for keys in (0, 1, 10, 1000, 123_456):
        offset_map = OffsetMap(memory_for(keys))
        assert keys <= offset_map.capacity <= 2 * keys + 20
    assert OffsetMap(0).capacity >= 1
