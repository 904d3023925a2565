"""The stateful operators that Spark lacks: DataFrame in, DataFrame out, the work done in the JVM.

    joined = stream_table_join(orders, customers, how="left")

Each also works on what is not a stream, and in real-time mode. Rows of a key are taken in the order
of their arrival: a source partition is never reordered, and of several partitions the one whose
next record is oldest comes first, a table before a stream at the same time.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Literal, TypeAlias, assert_never

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it
from pyspark.sql.types import LongType, StructField, StructType

from headwater.spark.aggregations.aggregation import Aggregation, Fold, StateField
from headwater.spark.aggregations.folds import fold
from headwater.spark.operator_rows import (
    Arrival,
    in_event_time,
    laid_out,
    micros,
    order_of,
    run_operator,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import Column, DataFrame

__all__ = [
    "Aggregation",
    "SessionWindow",
    "SlidingWindow",
    "Window",
    "aggregate_changes",
    "changes",
    "stream_table_join",
    "table_table_join",
]

Which: TypeAlias = Literal["each", "last", "final"]
"""Which results come out: all, the last of each batch, or the last of each window."""

_TABLE_SIDE, _STREAM_SIDE = 0, 1
_LEFT_SIDE, _RIGHT_SIDE = 0, 1


@dataclass(frozen=True)
class Window:
    """Windows of a size, one every advance (by default, the size), aligned to the epoch."""

    size: timedelta
    advance: timedelta | None = None
    grace: timedelta | None = None
    """How long after its end a window still takes rows; by default, not at all."""


@dataclass(frozen=True)
class SessionWindow:
    """Windows from row to row, as long as the next one comes within the gap."""

    gap: timedelta
    grace: timedelta | None = None
    """How long after the gap a session still takes rows; by default, not at all."""


@dataclass(frozen=True)
class SlidingWindow:
    """Windows of rows at most so far apart: one ends with each row, one begins right after it."""

    difference: timedelta
    grace: timedelta | None = None
    """How long after its end a window still takes rows; by default, not at all."""


AnyWindow: TypeAlias = Window | SessionWindow | SlidingWindow


def stream_table_join(
    stream: DataFrame,
    table: DataFrame,
    *,
    how: Literal["inner", "left"],
    stream_key: Column | str = "key",
    table_key: Column | str = "key",
    table_value: Column | str = "value",
    into: str = "table",
    stream_arrival: Arrival | None = None,
    table_arrival: Arrival | None = None,
) -> DataFrame:
    """Let each row of the stream meet the table as it stood when the row arrived.

    A row of the table replaces the one before of its key; a null value is a tombstone and deletes
    it. Returns the stream's rows with the table's value in the column `into`: null where the table
    has none, in a left join. A key that is null matches nothing.
    """
    key_of_stream, key_of_table = _column(stream_key), _column(table_key)
    if how == "inner":
        stream = stream.where(key_of_stream.isNotNull())
    table = table.where(key_of_table.isNotNull())
    value = _column(table_value)
    row_type = stream.select(F.struct("*").alias("row")).schema["row"].dataType
    value_type = table.select(value.alias("value")).schema["value"].dataType
    # The stream first: Spark asks the sources of a micro-batch for their ends in this order, so
    # that what was in the table before a record of the stream is in its batch, or in one before.
    rows = laid_out(
        stream,
        {"key": key_of_stream},
        _STREAM_SIDE,
        stream_arrival,
        {"stream": F.struct("*"), "table": F.lit(None).cast(value_type)},
    ).union(
        laid_out(
            table,
            {"key": key_of_table},
            _TABLE_SIDE,
            table_arrival,
            {"stream": F.lit(None).cast(row_type), "table": value},
        )
    )
    joined = run_operator(rows, "streamTableJoin", how == "left")
    return joined.select("row.stream.*", F.col("row.table").alias(into))


def table_table_join(
    left: DataFrame,
    right: DataFrame,
    *,
    how: Literal["inner", "left", "outer"],
    which: Literal["each", "last"] = "each",
    into: tuple[str, str] = ("left_value", "right_value"),
) -> DataFrame:
    """Return the pair of a key's rows after each row of either table, or the last of a batch.

    A row replaces the one before of its key; a null value is a tombstone. The columns are `key`,
    the two values under the names of `into`, `gone`, the `timestamp` of the later of the two rows,
    the `headers` of the row that changed the pair, and the order of results in `arrival`. `gone` is
    true where there was a pair and is none any more. Rows without a key are left out.
    """
    types = [side.schema["value"].dataType for side in (left, right)]

    def rows_of(side: DataFrame, number: int) -> DataFrame:
        values = [F.lit(None).cast(each) for each in types]
        values[number] = F.col("value")
        payload = {
            "carried": F.struct("key", "headers"),
            "event": micros("timestamp"),
            "left": values[0],
            "right": values[1],
        }
        return laid_out(side.where("key IS NOT NULL"), {"key": F.col("key")}, number, None, payload)

    rows = rows_of(left, _LEFT_SIDE).union(rows_of(right, _RIGHT_SIDE))
    keeps_left, keeps_right = how != "inner", how == "outer"
    joined = run_operator(rows, "tableTableJoin", keeps_left, keeps_right, which == "last")
    return joined.select(
        F.col("row.carried.key").alias("key"),
        F.col("row.left").alias(into[0]),
        F.col("row.right").alias(into[1]),
        F.col("row.gone").alias("gone"),
        F.timestamp_micros("row.time").alias("timestamp"),
        F.col("row.carried.headers").alias("headers"),
        order_of(F.col("row.carried.key")),
    )


def changes(
    table: DataFrame,
    *,
    key: Column | str = "key",
    value: Column | str = "value",
    old: str = "old",
    arrival: Arrival | None = None,
) -> DataFrame:
    """Return each row of a table with the value that it replaces in the column `old`.

    A null value is a tombstone. Every row comes out, a tombstone for what was not there as well:
    there the new and the old value are both null. Rows without a key are left out.
    """
    keyed = table.where(_column(key).isNotNull())
    payload = {"row": F.struct("*"), "value": _column(value)}
    rows = laid_out(keyed, {"key": _column(key)}, _TABLE_SIDE, arrival, payload)
    return run_operator(rows, "table").select("row.row.*", F.col("row.old").alias(old))


def aggregate_changes(
    rows: DataFrame,
    by: Mapping[str, Column | str],
    aggregations: Sequence[Aggregation],
    *,
    window: AnyWindow | None = None,
    carry: Sequence[str] = (),
    late: Literal["drop", "mark"] = "drop",
    which: Which = "each",
    arrival: Arrival | None = None,
) -> DataFrame:
    """Return the aggregates of a key after each row that changes them, or the last of a batch.

    Of windows they may also be the `final` ones, which come when the window has closed; such a
    query only adds rows. Nothing is carried then.

    The columns are those of `by`, `window` (start and end) if there is one, the aggregates, the
    time of the latest row in them, under its name in the input, the order of results in `arrival`,
    and of the row itself what `carry` names.

    A row comes out once for each window that it is in or makes. It is late for a window that was
    closed: the window's end and the grace lie behind the key's latest row, or behind all rows of
    the batches before. Late rows are dropped, or come out marked: `late` is true and the aggregates
    are null. Where a row makes one session of several, or a longer one, those that were there
    before come out with aggregates that are null.
    """
    arrival = arrival or Arrival.of(rows)
    folds = [fold(rows, each, f"f{index}") for index, each in enumerate(aggregations)]
    watermarked = window is not None and rows.isStreaming
    if watermarked:
        # Grace is the operator's own, so that it sees the late rows that Spark would drop.
        rows = in_event_time(rows, arrival.time)
    payload = {
        "values": F.struct(
            *(each.value.alias(f"f{index}") for index, each in enumerate(folds)),
            micros(arrival.time).alias("time"),
        ),
        "carried": F.struct(
            *(F.col(name).alias(f"carry_{name}") for name in dict.fromkeys((*carry, arrival.time))),
            *(_column(column).alias(f"by_{name}") for name, column in by.items()),
        ),
    }
    keys = {name: _column(column) for name, column in by.items()}
    prepared = laid_out(rows, keys, _STREAM_SIDE, arrival, payload)
    folded = _folded(prepared, folds, window, which, watermarked)
    if window is not None and late == "drop":
        folded = folded.where("NOT row.late")
    if which == "last":
        folded = folded.where("row.last" if window is None else "row.last OR row.late")
    result = folded.select("row.*")
    columns = [F.col(f"carried.by_{name}").alias(name) for name in by]
    if window is not None:
        columns.append(_window_column())
        columns += [F.col("late")] if late == "mark" else []
    columns += [
        F.expr(each.result).alias(aggregation.name)
        for each, aggregation in zip(folds, aggregations, strict=True)
    ]
    # A session that is gone has the time that it had, which is its end.
    session = isinstance(window, SessionWindow)
    latest = F.coalesce(
        F.timestamp_micros(F.col("state.time")),
        F.timestamp_micros("end") if session else F.col(f"carried.carry_{arrival.time}"),
    )
    keys_carried = [F.col(f"carried.by_{name}") for name in by]
    columns += [latest.alias(arrival.time), order_of(*keys_carried, order="order")]
    columns += [
        F.col(f"carried.carry_{name}").alias(name) for name in carry if name != arrival.time
    ]
    return result.select(*columns)


def _folded(
    rows: DataFrame,
    folds: Sequence[Fold],
    window: AnyWindow | None,
    which: Which,
    watermarked: bool,
) -> DataFrame:
    latest = "greatest(state.time, row.time)"
    fields = [field for each in folds for field in each.fields]
    fields.append(StateField("time", LongType(), latest, latest))
    state = StructType([StructField(each.name, each.type, True) for each in fields]).json()
    updates = [each.update for each in fields]
    match window:
        case None:
            return run_operator(rows, "aggregation", state, updates)
        case Window():
            lengths = _lengths(window)
            return run_operator(
                rows, "windowedAggregation", state, updates, *lengths, which, watermarked
            )
        case SessionWindow(gap, grace):
            merges = [each.merge for each in fields]
            times = _microseconds(gap), _microseconds(grace)
            return run_operator(
                rows, "sessionAggregation", state, updates, merges, *times, which, watermarked
            )
        case SlidingWindow(difference, grace):
            times = _microseconds(difference), _microseconds(grace)
            return run_operator(
                rows, "slidingAggregation", state, updates, *times, which, watermarked
            )
        case _:
            assert_never(window)


def _window_column() -> Column:
    bounds = (F.timestamp_micros(name).alias(name) for name in ("start", "end"))
    return F.struct(*bounds).alias("window")


def _lengths(window: Window) -> tuple[int, int, int]:
    size = _microseconds(window.size)
    advance = size if window.advance is None else _microseconds(window.advance)
    return size, advance, _microseconds(window.grace)


def _microseconds(length: timedelta | None) -> int:
    length = length or timedelta()
    return (length.days * 86_400 + length.seconds) * 1_000_000 + length.microseconds


def _column(column: Column | str) -> Column:
    return F.expr(column) if isinstance(column, str) else column
