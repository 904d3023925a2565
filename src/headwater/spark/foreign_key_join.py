"""Joins of two tables by a foreign key, as three operators of the JVM with a shuffle before each.

The first follows the left table by its key and tells foreign keys who refers to them; the second
keeps, by foreign key, the right row and all left rows that refer to it; the third brings what the
foreign keys say of a left row into the order of the row's versions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

from headwater.spark.operator_rows import laid_out, micros, order_of, run_operator

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_LEFT_SIDE, _RIGHT_SIDE = 0, 1


def foreign_key_join(
    left: DataFrame,
    right: DataFrame,
    foreign_key: Column,
    *,
    how: Literal["inner", "left"],
    which: Literal["each", "last"] = "each",
    repeats_ends: bool = False,
    into: tuple[str, str] = ("left_value", "right_value"),
) -> DataFrame:
    """Return the pair of each left row when it changes, or the right row that it refers to does.

    The columns are those of `operators.table_table_join`; the key is the left row's. A row whose
    foreign key is null refers to nothing. With `repeats_ends` a change gives a tombstone also where
    there was no pair before it, as in Kafka Streams.
    """
    keeps_left, only_last = how == "left", which == "last"
    told = _told(_subscriptions(left, right, foreign_key, keeps_left), keeps_left, only_last)
    rows = laid_out(
        told,
        {"key": F.col("key")},
        _LEFT_SIDE,
        None,
        {
            "carried": F.struct("key", "headers"),
            "event": F.col("time"),
            "left": F.col("left"),
            "right": F.col("right"),
            "version": F.col("version"),
            "subscription": F.col("subscription"),
            "there": F.col("there"),
        },
    )
    joined = run_operator(rows, "foreignKeyResponses", only_last, repeats_ends)
    return joined.select(
        F.col("row.carried.key").alias("key"),
        F.col("row.left").alias(into[0]),
        F.col("row.right").alias(into[1]),
        F.col("row.gone").alias("gone"),
        F.timestamp_micros("row.time").alias("timestamp"),
        F.col("row.carried.headers").alias("headers"),
        order_of(F.col("row.carried.key")),
    )


def _subscriptions(
    left: DataFrame, right: DataFrame, foreign_key: Column, keeps_left: bool
) -> DataFrame:
    """Return what left rows tell foreign keys, and the right rows themselves."""
    nothing = {
        name: F.lit(None).cast(side.schema[column].dataType)
        for name, side, column in (
            ("left key", left, "key"),
            ("left", left, "value"),
            ("right key", right, "key"),
            ("right", right, "value"),
        )
    }
    # Two inputs become one before all state: real-time mode takes them in no other way.
    lefts = laid_out(
        left.where("key IS NOT NULL"),
        {"left": F.col("key"), "right": nothing["right key"]},
        _LEFT_SIDE,
        None,
        {
            "key": F.col("key"),
            "headers": F.col("headers"),
            "event": micros("timestamp"),
            "foreign_key": F.when(F.col("value").isNotNull(), foreign_key),
            "left": F.col("value"),
            "right": nothing["right"],
        },
    )
    rights = laid_out(
        right.where("key IS NOT NULL"),
        {"left": nothing["left key"], "right": F.col("key")},
        _RIGHT_SIDE,
        None,
        {
            "key": nothing["left key"],
            "headers": F.col("headers"),
            "event": micros("timestamp"),
            "foreign_key": F.col("key"),
            "left": nothing["left"],
            "right": F.col("value"),
        },
    )
    told = run_operator(lefts.union(rights), "foreignKeySubscriptions", keeps_left)
    own_key = F.when(F.col("row.side") == _RIGHT_SIDE, F.col("row.foreign_key"))
    return told.select("row.*", order_of(F.col("row.key"), own_key))


def _told(subscriptions: DataFrame, keeps_left: bool, only_last: bool) -> DataFrame:
    """Return what foreign keys say of the rows that refer to them."""
    # What refers to nothing is answered as well: each such row in a group of its own.
    refers = F.col("foreign_key").isNotNull()
    names = ("key", "headers", "event", "left", "right", "version", "subscription")
    rows = laid_out(
        subscriptions,
        {"foreign_key": F.col("foreign_key"), "alone": F.when(~refers, F.col("key"))},
        F.col("side"),
        None,
        {**{name: F.col(name) for name in names}, "refers": refers},
    )
    told = run_operator(rows, "foreignKeySubscribers", keeps_left, only_last)
    # An answer's place is that among those of its foreign key; versions put them in order.
    return told.select("row.*", order_of(F.lit(0)))
