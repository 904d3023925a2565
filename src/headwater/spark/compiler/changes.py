"""Tables whose rows know what they replace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

from headwater.plan.expressions.scope import Scope
from headwater.spark import operators

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from headwater.plan.nodes import TableFilter

OLD_VALUE = "old_value"
"""The column that the rows of a plan have in the changelog mode `retract`."""


def with_old_values(table: DataFrame) -> DataFrame:
    """Put beside each row the value that it replaces; null where there was none."""
    return operators.changes(table, old=OLD_VALUE)


def as_records(table: DataFrame) -> DataFrame:
    """Take a table's rows as records, which replace nothing."""
    return table.drop(OLD_VALUE)


def filtered(node: TableFilter, table: DataFrame) -> DataFrame:
    """Keep the rows for which the predicate is true, and delete those for which it was."""

    def is_in(value: str) -> Column:
        passes = F.expr(node.predicate.sql(Scope.of_record(node.parents[0].row, value=value)))
        return F.coalesce(F.col(value).isNotNull() & passes, F.lit(False))

    is_now, was = is_in("value"), is_in(OLD_VALUE)
    kept = table.where(is_now | was)
    return kept.withColumn("value", F.when(is_now, F.col("value"))).drop(OLD_VALUE)
