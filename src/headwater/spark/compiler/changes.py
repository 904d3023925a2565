"""Tables whose rows know what they replace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.spark import operators

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

OLD_VALUE = "old_value"
"""The column that the rows of a plan have in the changelog mode `retract`."""


def with_old_values(table: DataFrame) -> DataFrame:
    """Put beside each row the value that it replaces; null where there was none."""
    return operators.changes(table, old=OLD_VALUE)


def as_records(table: DataFrame) -> DataFrame:
    """Take a table's rows as records, which replace nothing."""
    return table.drop(OLD_VALUE)
