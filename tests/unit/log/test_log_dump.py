"""Files that Apache Kafka 4.3.1 wrote, dumped by its own tool and by us."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from headwater.log.dump import dump_file
from headwater.log.dump_lines import BatchLine, Note, Problem, RecordLine
from headwater.log.errors import LogError
from headwater.log.producers.producer_snapshot import encode_snapshot, read_snapshot
from headwater.log.records.batch import CRC_POSITION, DELETE_HORIZON_BIT
from headwater.log.records.compression_type import CompressionType
from headwater.log.records.record import Record, encode_batch

KAFKA_SEGMENTS = Path(__file__).with_name("kafka_segments")
BASE = 1_700_000_000_000


def texts(path: Path, **options: bool) -> list[str]:
    return [line.text for line in dump_file(path, **options)]


def segment(directory: Path, *batches: bytes | bytearray) -> Path:
    path = directory / "00000000000000000000.log"
    path.write_bytes(b"".join(batches))
    return path


def batch(offset: int, *keys: str, codec: CompressionType = CompressionType.NONE) -> bytearray:
    records = [Record(offset + i, BASE + i, key.encode(), b"v") for i, key in enumerate(keys)]
    return encode_batch(records, codec=codec)


@pytest.mark.parametrize("directory", sorted(KAFKA_SEGMENTS.iterdir()), ids=lambda path: path.name)
def test_the_dump_is_kafkas(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(directory)
    lines: list[str] = []
    for name in sorted(path.name for path in directory.iterdir() if path.name != "dump.txt"):
        lines.append(f"Dumping {name}")
        dumped = list(dump_file(Path(name), contents=True))
        assert not [line for line in dumped if isinstance(line, Problem)]
        lines += [line.text for line in dumped]
    assert lines == Path("dump.txt").read_text().splitlines()


def test_what_kafkas_clients_wrote_is_what_they_were_given() -> None:
    for codec in CompressionType:
        path = KAFKA_SEGMENTS / f"librdkafka-{codec.config_name}" / "00000000000000000000.log"
        records = [line.record for line in dump_file(path, records=True) if hasattr(line, "record")]
        idempotent = codec is CompressionType.ZSTD
        assert records == [
            Record(
                offset=i,
                timestamp=BASE + i,
                key=None if i == 3 else b"key-%d" % (i % 7),
                value=None if i == 5 else b'{"reading": %d, "unit": "celsius"}' % i,
                headers=(("h", b"v%d" % i), ("none", None)) if i % 10 == 0 else (),
                sequence=i if idempotent else -1,
            )
            for i in range(50)
        ]
        path = KAFKA_SEGMENTS / f"java-{codec.config_name}" / "00000000000000000000.log"
        records = [line.record for line in dump_file(path, records=True) if hasattr(line, "record")]
        assert [(record.key, record.value, record.headers) for record in records] == [
            (
                b"key-%d" % (i % 7),
                b'{"reading": %d, "unit": "celsius"}' % i,
                (("a", b"%d" % i), ("b", b"x")),
            )
            for i in range(40)
        ]


def test_only_what_is_asked_for(tmp_path: Path) -> None:
    path = segment(tmp_path, batch(0, "a", "b"), batch(2, "c", codec=CompressionType.LZ4))
    kinds = [type(line) for line in dump_file(path)]
    assert kinds == [Note, BatchLine, BatchLine]
    kinds = [type(line) for line in dump_file(path, records=True)]
    assert kinds == [Note, BatchLine, RecordLine, RecordLine, BatchLine, RecordLine]
    assert texts(path, contents=True, metadata=False)[2] == "| key: a payload: v"
    assert texts(path, records=True)[2] == (
        f"| offset: 0 CreateTime: {BASE} keySize: 1 valueSize: 1 sequence: -1 headerKeys: []"
    )
    first_batch = next(line for line in dump_file(path) if isinstance(line, BatchLine)).header
    assert len(list(dump_file(path, max_bytes=first_batch.size))) == 2


def test_a_delete_horizon_is_shown(tmp_path: Path) -> None:
    tombstone = encode_batch([Record(0, BASE, b"k", None)], delete_horizon_ms=BASE + 9)
    (line,) = (line for line in dump_file(segment(tmp_path, tombstone)) if hasattr(line, "header"))
    assert line.header.attributes & DELETE_HORIZON_BIT
    assert f"deleteHorizonMs: OptionalLong[{BASE + 9}]" in line.text
    assert f"CreateTime: {BASE} " in line.text


def test_a_wrong_crc_is_shown_and_the_rest_still_read(tmp_path: Path) -> None:
    damaged = batch(0, "a")
    damaged[CRC_POSITION] ^= 1
    valid = [
        line.is_valid
        for line in dump_file(segment(tmp_path, damaged, batch(1, "b")))
        if isinstance(line, BatchLine)
    ]
    assert valid == [False, True]


def test_a_torn_tail_is_counted(tmp_path: Path) -> None:
    path = segment(tmp_path, batch(0, "a"), batch(1, "b")[:-3])
    torn = len(batch(1, "b")) - 3
    assert texts(path)[-1] == f"Found {torn} invalid bytes at the end of {path.name}"
    path = segment(tmp_path, batch(0, "a"), bytes(200))
    assert texts(path)[-1] == f"Found 200 invalid bytes at the end of {path.name}"


def test_records_that_cannot_be_read_are_a_problem_not_the_end(tmp_path: Path) -> None:
    damaged = batch(0, "aaaa", "bbbb", codec=CompressionType.GZIP)
    damaged[-12:] = bytes(12)
    lines = list(dump_file(segment(tmp_path, damaged, batch(2, "c")), records=True))
    assert [type(line) for line in lines] == [Note, BatchLine, Problem, BatchLine, RecordLine]


def test_wrong_index_entries_are_problems(tmp_path: Path) -> None:
    first, second = batch(0, "a", "b"), batch(2, "c")
    log = segment(tmp_path, first, second)
    index = log.with_suffix(".index")
    index.write_bytes(struct.pack(">ii", 1, 0) + struct.pack(">ii", 2, 5_000))
    lines = list(dump_file(index))
    assert [line.text for line in lines if not isinstance(line, Problem)] == [
        "offset: 1 position: 0",
        "offset: 2 position: 5000",
    ]
    assert [line.text for line in lines if isinstance(line, Problem)] == [
        f"Index offset: 2 points past the end of {log.name}"
    ]
    index.write_bytes(struct.pack(">ii", 1, 0) + struct.pack(">ii", 3, len(first)))
    assert [line.text for line in dump_file(index) if isinstance(line, Problem)] == [
        "Index offset: 3, log offset: 2"
    ]
    times = log.with_suffix(".timeindex")
    times.write_bytes(
        struct.pack(">qi", BASE + 1, 1)
        + struct.pack(">qi", BASE, 2)
        + struct.pack(">qi", BASE + 5, 9)
    )
    assert [line.text for line in dump_file(times) if isinstance(line, Problem)] == [
        f"Index timestamp: {BASE}, previously indexed timestamp: {BASE + 1}",
        "Indexed offset: 9, found log offset: -1",
    ]


def test_zeros_after_the_entries_are_not_entries(tmp_path: Path) -> None:
    log = segment(tmp_path, batch(0, "a"), batch(1, "b"))
    entry = struct.pack(">ii", 1, len(batch(0, "a")))
    log.with_suffix(".index").write_bytes(entry + bytes(80))
    assert len(texts(log.with_suffix(".index"))) == 1
    log.with_suffix(".index").write_bytes(bytes(80))
    assert texts(log.with_suffix(".index")) == [f"{log.with_suffix('.index')} is empty."]
    log.with_suffix(".timeindex").write_bytes(struct.pack(">qi", BASE, 1) + bytes(24))
    assert texts(log.with_suffix(".timeindex")) == [f"timestamp: {BASE} offset: 1"]


def test_checkpoints(tmp_path: Path) -> None:
    epochs = tmp_path / "leader-epoch-checkpoint"
    epochs.write_text("0\n2\n0 0\n3 17\n")
    assert texts(epochs) == ["epoch: 0 startOffset: 0", "epoch: 3 startOffset: 17"]
    offsets = tmp_path / "recovery-point-offset-checkpoint"
    offsets.write_text("0\n1\norders 2 99\n")
    assert texts(offsets) == ["topic: orders partition: 2 offset: 99"]
    offsets.write_text("0\nmany\n")
    assert isinstance(next(iter(dump_file(offsets))), Problem)


def test_a_damaged_snapshot_is_a_problem(tmp_path: Path) -> None:
    good = (KAFKA_SEGMENTS / "txn" / "00000000000000000012.snapshot").read_bytes()
    path = tmp_path / "00000000000000000012.snapshot"
    path.write_bytes(good[:-1] + b"\x01")
    assert "CRC" in texts(path)[0]
    path.write_bytes(good[:20])
    assert any("claims 1 producers" in text for text in texts(path))
    path.write_bytes(b"")
    assert "too short" in texts(path)[0]


def test_our_own_snapshot_reads_like_kafkas(tmp_path: Path) -> None:
    entries = read_snapshot(KAFKA_SEGMENTS / "txn" / "00000000000000000012.snapshot")
    path = tmp_path / "00000000000000000012.snapshot"
    path.write_bytes(encode_snapshot(entries))
    assert texts(path) == texts(KAFKA_SEGMENTS / "txn" / "00000000000000000012.snapshot")


def test_files_on_their_way_in_or_out_can_be_read(tmp_path: Path) -> None:
    path = segment(tmp_path, batch(0, "a"))
    for suffix in (".cleaned", ".swap", ".deleted"):
        renamed = path.rename(path.with_name("00000000000000000000.log" + suffix))
        assert texts(renamed, contents=True)[-1].endswith("key: a payload: v")
        path = renamed


def test_other_files_are_refused(tmp_path: Path) -> None:
    for name in ("notes.txt", "server.log", "orders"):
        with pytest.raises(LogError, match=name):
            list(dump_file(tmp_path / name))
