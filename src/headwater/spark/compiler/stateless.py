"""Operators that look at one record at a time."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

from headwater.spark.compiler.operands import called_column, first_met_column, operand_column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from headwater.plan.expressions.python_function import PythonFunction
    from headwater.plan.nodes import Branch, Filter, FlatMap, Map, Repartition, Split

_RECORD = ("key", "value", "timestamp", "headers")


def filtered(node: Filter, rows: DataFrame) -> DataFrame:
    """Keep the records for which the predicate is true."""
    return rows.where(operand_column(node.predicate, node.parents[0].row))


def split(node: Split, rows: DataFrame) -> DataFrame:
    """Note for each record the branch that it goes to."""
    return rows.withColumn(branch_name(node), first_met_column(node.conditions, node.row))


def branch(node: Branch, rows: DataFrame) -> DataFrame:
    """Keep the records of one branch."""
    name = branch_name(node.split)
    return rows.where(F.col(name) == node.index).drop(name)


def branch_name(node: Split) -> str:
    """Return the column in which a split notes where a record goes."""
    return f"branch_{node.number}"


def mapped(node: Map, rows: DataFrame) -> DataFrame:
    """Replace key and value, both computed from the record as it was."""
    row = node.parents[0].row
    if node.pair is not None:
        paired = rows.withColumn("pair", operand_column(node.pair, row))
        return paired.withColumns({"key": F.col("pair.key"), "value": F.col("pair.value")}).drop(
            "pair"
        )
    given = {"key": node.key, "value": node.value, "timestamp": node.timestamp}
    return rows.withColumns(
        {name: operand_column(part, row) for name, part in given.items() if part is not None}
    )


def flat_mapped(node: FlatMap, rows: DataFrame) -> DataFrame:
    """Make a record of each element."""
    items = rows.withColumn("item", F.explode(operand_column(node.items, node.parents[0].row)))
    made = (
        {"key": F.col("item.key"), "value": F.col("item.value")}
        if node.keyed
        else {"value": F.col("item")}
    )
    return items.withColumns(made).drop("item")


def merged(rows: Sequence[DataFrame]) -> DataFrame:
    """Put streams together; a position is kept where all have one."""
    shared = [name for name in rows[0].columns if all(name in each.columns for each in rows)]
    return reduce(lambda left, right: left.union(right), (each.select(*shared) for each in rows))


def upserts(rows: DataFrame) -> DataFrame:
    """Read records as changes of a table, in which nothing can be without a key."""
    return rows.where("key IS NOT NULL")


def repartitioned(node: Repartition, rows: DataFrame) -> DataFrame:
    """Bring equal keys together; operators that need this do so by themselves."""
    return rows if node.partitions is None else rows.repartition(node.partitions, "key")


def called(function: PythonFunction, rows: DataFrame) -> DataFrame:
    """Call the function for each record on its way, and pass the record on."""
    # The filter is what keeps Spark from leaving out a column that nobody reads.
    return rows.withColumn("seen", called_column(function)).where("seen").drop("seen")
