"""What a query had read when a batch began, as Spark writes it down."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.spark.sinks.batch_ends import offsets_read

if TYPE_CHECKING:
    from pathlib import Path


def test_offsets_of_all_sources(tmp_path: Path) -> None:
    (tmp_path / "offsets").mkdir()
    (tmp_path / "offsets" / "7").write_text(
        "v1\n"
        '{"batchWatermarkMs":0,"batchTimestampMs":1,"conf":{"spark.sql.shuffle.partitions":"2"}}\n'
        '{"orders":{"0":5,"1":7},"returns":{"0":1}}\n'
        '{"orders":{"0":4,"1":9}}\n'
        "-\n"
    )
    assert offsets_read(tmp_path, 7) == {"orders": {0: 4, 1: 7}, "returns": {0: 1}}
