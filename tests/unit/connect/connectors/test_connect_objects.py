"""Open files of the sink to object stores: when they are complete, their names, and Avro's form."""

from __future__ import annotations

import doctest
from collections import Counter
from io import BytesIO
from random import Random
from typing import TYPE_CHECKING, BinaryIO

import fastavro
import numpy as np
import pyarrow as pa
import pytest

from headwater.config import Values
from headwater.connect.connectors.objects import partitioners
from headwater.connect.connectors.objects.avro_container import AvroContainer
from headwater.connect.connectors.objects.formats import JsonFormat
from headwater.connect.connectors.objects.open_files import OpenFiles, Rotation, Rows
from headwater.connect.connectors.objects.settings import DEFINITIONS
from headwater.connect.connectors.objects.stores import FolderStore

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

MINUTE = 60_000
CONFIG = Values(DEFINITIONS, {"flush.size": "1"})


def rows(records: Sequence[tuple[int, int, str]]) -> Rows:
    """Records as offset, minute and folder; the value is the offset."""
    return Rows(
        np.array([offset for offset, _, _ in records], dtype=np.int64),
        np.array([minute * MINUTE for _, minute, _ in records], dtype=np.int64),
        pa.chunked_array([[f"{folder}/t+0+" for _, _, folder in records]], type=pa.string()),
        pa.chunked_array([[b"%d\n" % offset for offset, _, _ in records]], type=pa.binary()),
    )


class Stored:
    """What a store has, which may forget nothing, and what was committed."""

    def __init__(self) -> None:
        self.objects: dict[str, list[int]] = {}
        self.position = 0

    def keep(self, files: OpenFiles) -> None:
        """Store all files."""
        for file in files.files:
            self.put(file.name, file.finished())
        self.position = files.position
        files.cleared()

    def put(self, name: str, file: BinaryIO) -> None:
        """Store a file."""
        self.objects[name] = [int(line) for line in file.read().splitlines()]


def open_files(rotation: Rotation) -> OpenFiles:
    """Files of JSON lines."""
    return OpenFiles(rotation, JsonFormat(CONFIG, None), 1 << 20, "05d")


def taken(rotation: Rotation, records: Sequence[tuple[int, int, str]]) -> dict[str, list[int]]:
    """Return the objects of some records."""
    stored, files = Stored(), open_files(rotation)
    for _ in files.take(rows(records)):
        stored.keep(files)
    return stored.objects


def test_files_are_complete_by_count_time_and_folder() -> None:
    records = [(0, 0, "a"), (1, 1, "b"), (2, 2, "a"), (5, 9, "a"), (6, 10, "a"), (7, 30, "b")]
    by_count = taken(Rotation(3, -1, by_folder=False), records)
    assert by_count == {
        "a/t+0+00000.json": [0, 2],
        "b/t+0+00001.json": [1],
        "a/t+0+00005.json": [5, 6],
        "b/t+0+00007.json": [7],
    }
    # The last ones are not ten minutes old.
    by_time = taken(Rotation(100, 10 * MINUTE, by_folder=False), records)
    assert by_time == {
        "a/t+0+00000.json": [0, 2, 5],
        "b/t+0+00001.json": [1],
        "a/t+0+00006.json": [6],
    }
    by_folder = taken(Rotation(2, 10 * MINUTE, by_folder=True), records)
    assert by_folder == {
        "a/t+0+00000.json": [0],
        "b/t+0+00001.json": [1],
        "a/t+0+00002.json": [2, 5],
        "a/t+0+00006.json": [6],
    }


class Crash(Exception):  # noqa: N818 - what happens
    """All that is kept in memory is gone."""


def kept_or_crashed(stored: Stored, files: OpenFiles, random: Random) -> None:
    """Store files; sometimes it ends before all of them are there, or before that is known."""
    if random.random() < 0.25:
        for file in random.sample(files.files, random.randint(0, len(files.files))):
            stored.put(file.name, file.finished())
        raise Crash
    if files.files:
        stored.keep(files)


def run_until_crash(
    stored: Stored, records: Sequence[tuple[int, int, str]], random: Random
) -> None:
    """Write what is not committed yet, with settings of its own; some files end by the clock."""
    interval = random.choice([-1, 3 * MINUTE])
    by_folder = random.random() < 0.5
    files = open_files(Rotation(random.randint(1, 30), interval, by_folder=by_folder))
    left = [each for each in records if each[0] >= stored.position]
    while left:
        cut = random.randint(1, 20)
        batch, left = left[:cut], left[cut:]
        for _ in files.take(rows(batch)):
            kept_or_crashed(stored, files, random)
        if random.random() < 0.2 or not left:
            kept_or_crashed(stored, files, random)


@pytest.mark.parametrize("seed", range(20))
def test_every_record_is_in_one_object_wherever_it_ends(seed: int) -> None:
    random = Random(seed)
    offsets = sorted(random.sample(range(400), 200))  # what was compacted away is not there
    records = [(each, each // 7 + random.randint(0, 2), random.choice("abc")) for each in offsets]
    stored = Stored()
    crashes = 0
    while stored.position <= offsets[-1]:
        try:
            run_until_crash(stored, records, random)
        except Crash:
            crashes += 1
    assert crashes > 0
    found = Counter(number for object_ in stored.objects.values() for number in object_)
    assert found == Counter(offsets)


@pytest.mark.parametrize("codec", ["null", "deflate", "snappy", "bzip2"])
def test_avro_is_what_others_read(codec: str) -> None:
    schema = '{"type": "string"}'
    texts = [f"text {number}" * 50 for number in range(1000)]
    values = []
    for text in texts:
        file = BytesIO()
        fastavro.schemaless_writer(file, {"type": "string"}, text)
        values.append(file.getvalue())
    written = []
    for _ in range(2):
        file = BytesIO()
        container = AvroContainer(file, schema, codec)
        container.write(pa.chunked_array([values[:10], values[10:]]))
        container.finish()
        written.append(file.getvalue())
    assert written[0] == written[1], "the same records are the same bytes"
    assert list(fastavro.reader(BytesIO(written[0]))) == texts


def test_a_folder_replaces_files_as_wholes(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    store.put("a/b/file", BytesIO(b"old"))
    store.put("a/b/file", BytesIO(b"new"))
    assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == ["file"]
    assert (tmp_path / "a" / "b" / "file").read_bytes() == b"new"


def test_paths() -> None:
    assert doctest.testmod(partitioners).failed == 0
    with pytest.raises(ValueError, match="not closed"):
        partitioners.spark_pattern("'year=YYYY")
