"""Updates held back until a time limit, in one buffer for all keys, in the JVM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

from headwater.spark.operator_rows import ARRIVAL, laid_out, micros, order_of, run_operator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, DataFrame

_NO_BOUND = 2**63 - 1


def suppressed(
    table: DataFrame,
    identity: Sequence[Column],
    *,
    limit_ms: int,
    max_records: int | None = None,
    max_bytes: int | None = None,
    emits_early: bool = True,
) -> DataFrame:
    """Return the last row of each identity once its time is over, or there is no more room.

    The identity is what a row replaces another by: its key, and of a windowed table the window.
    """
    kept = [name for name in table.columns if name != ARRIVAL]
    payload = {
        "id": F.struct(*(column.alias(f"id{index}") for index, column in enumerate(identity))),
        "kept": F.struct(*kept),
        "event": micros("timestamp"),
    }
    # One buffer, so that it has one bound and one time; not a constant, which Spark knows.
    buffer = F.pmod(F.xxhash64("key"), F.lit(1))
    rows = laid_out(table.where("key IS NOT NULL"), {"buffer": buffer}, 0, None, payload)
    given = run_operator(
        rows,
        "suppression",
        limit_ms * 1000,
        _NO_BOUND if max_records is None else max_records,
        _NO_BOUND if max_bytes is None else max_bytes,
        emits_early,
    )
    return given.select("row.kept.*", order_of(F.col("row.kept.key")))
