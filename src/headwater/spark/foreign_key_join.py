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
    into: tuple[str, str] = ("left_value", "right_value"),
) -> DataFrame:
    """Return the pair of each left row when it changes, or the right row that it refers to does.

    The columns are those of `operators.table_table_join`; the key is the left row's. A row whose
    foreign key is null refers to nothing.
    """
    keeps_left, only_last = how == "left", which == "last"
    subscriptions = _subscriptions(left, foreign_key, keeps_left)
    told = _told(subscriptions, right, keeps_left, only_last)
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
    joined = run_operator(rows, "foreignKeyResponses", only_last)
    return joined.select(
        F.col("row.carried.key").alias("key"),
        F.col("row.left").alias(into[0]),
        F.col("row.right").alias(into[1]),
        F.col("row.gone").alias("gone"),
        F.timestamp_micros("row.time").alias("timestamp"),
        F.col("row.carried.headers").alias("headers"),
        order_of(F.col("row.carried.key")),
    )


def _subscriptions(left: DataFrame, foreign_key: Column, keeps_left: bool) -> DataFrame:
    payload = {
        "carried": F.struct("key", "headers"),
        "event": micros("timestamp"),
        "foreign_key": F.when(F.col("value").isNotNull(), foreign_key),
        "value": F.col("value"),
    }
    rows = laid_out(left.where("key IS NOT NULL"), {"key": F.col("key")}, _LEFT_SIDE, None, payload)
    told = run_operator(rows, "foreignKeySubscriptions", keeps_left)
    return told.select("row.*", order_of(F.col("row.carried.key")))


def _told(
    subscriptions: DataFrame, right: DataFrame, keeps_left: bool, only_last: bool
) -> DataFrame:
    """Return what foreign keys say of the rows that refer to them; each is a queue of answers."""
    types = {
        "key": subscriptions.schema["carried"].dataType["key"].dataType,  # type: ignore[index]
        "left": subscriptions.schema["value"].dataType,
        "right": right.schema["value"].dataType,
    }
    nothing = {name: F.lit(None).cast(each) for name, each in types.items()}
    # What refers to nothing is answered as well: each such row in a group of its own.
    refers = F.col("foreign_key").isNotNull()
    lefts = laid_out(
        subscriptions,
        {"foreign_key": F.col("foreign_key"), "alone": F.when(~refers, F.col("carried.key"))},
        _LEFT_SIDE,
        None,
        {
            "key": F.col("carried.key"),
            "headers": F.col("carried.headers"),
            "event": F.col("event"),
            "left": F.col("value"),
            "right": nothing["right"],
            "version": F.col("version"),
            "subscription": F.col("subscription"),
            "refers": refers,
        },
    )
    rights = laid_out(
        right.where("key IS NOT NULL"),
        {"foreign_key": F.col("key"), "alone": nothing["key"]},
        _RIGHT_SIDE,
        None,
        {
            "key": nothing["key"],
            "headers": F.col("headers"),
            "event": micros("timestamp"),
            "left": nothing["left"],
            "right": F.col("value"),
            "version": F.lit(0).cast("long"),
            "subscription": F.lit(0),
            "refers": F.lit(True),
        },
    )
    told = run_operator(lefts.union(rights), "foreignKeySubscribers", keeps_left, only_last)
    # An answer's place is that among those of its foreign key; versions put them in order.
    return told.select("row.*", order_of(F.lit(0)))
