"""The fold of every function, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.spark.aggregations.basic import fold_basic
from headwater.spark.aggregations.counting import COUNTING
from headwater.spark.aggregations.lists import LISTS
from headwater.spark.aggregations.statistics import STATISTICS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headwater.spark.aggregations.aggregation import Aggregation, Fold

_FOLDS = {**COUNTING, **LISTS, **STATISTICS}


def fold(rows: DataFrame, aggregation: Aggregation, prefix: str) -> Fold:
    """Return what the aggregation keeps, in fields whose names begin with the prefix."""
    made = _FOLDS.get(aggregation.function)
    return (made or fold_basic)(rows, aggregation, prefix)
