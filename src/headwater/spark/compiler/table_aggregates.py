"""Aggregates of tables: a row that is replaced is taken out of its group, the new one put in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

from headwater.plan.expressions.scope import Scope
from headwater.spark import operators
from headwater.spark.compiler.aggregates import combining, folded_value
from headwater.spark.compiler.changes import OLD_VALUE
from headwater.spark.operator_rows import ARRIVAL
from headwater.spark.sources.source import NO_HEADERS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from headwater.plan.expressions.aggregations import Aggregation
    from headwater.plan.expressions.expressions import Expression
    from headwater.plan.nodes import TableAggregate
    from headwater.plan.rows import RowType

_RESULT = "result_"


def regrouped(node: TableAggregate, rows: DataFrame) -> DataFrame:
    """Fold the rows that a table has at the moment, by group."""
    row = node.parents[0].row
    folds = [
        _fold(f"{_RESULT}{name}", each, node.undo, row, rows) for name, each in node.aggregations
    ]
    folded = operators.aggregate_changes(
        _moved(node, rows, row),
        {"group_key": "group_key"},
        folds,
        which="last" if node.emit == "batch" else "each",
    )
    results = {name: F.col(f"{_RESULT}{name}") for name, _ in node.aggregations}
    fields = [column.alias(name) for name, column in results.items()]
    value = F.struct(*fields) if node.undo is None else next(iter(results.values()))
    return folded.select(
        F.col("group_key").alias("key"),
        value.alias("value"),
        F.col("timestamp"),
        F.expr(NO_HEADERS).alias("headers"),
        ARRIVAL,
    )


def _moved(node: TableAggregate, rows: DataFrame, row: RowType) -> DataFrame:
    """Return for each change the groups that it concerns: one, or that which it leaves first."""
    keys = {
        f"{value}_group": F.when(F.col(value).isNotNull(), _over(node.by, row, value))
        for value in (OLD_VALUE, "value")
    }
    old_key, new_key = F.col(f"{OLD_VALUE}_group"), F.col("value_group")
    old, new = F.col(OLD_VALUE), F.col("value")
    nothing = F.lit(None).cast(rows.schema["value"].dataType)
    stays = F.coalesce(old_key == new_key, F.lit(False))

    def moved(where: Column, key: Column, left: Column, entered: Column) -> Column:
        made = F.struct(key.alias("group_key"), left.alias(OLD_VALUE), entered.alias("value"))
        return F.when(where, made)

    groups = F.array(
        moved(stays, new_key, old, new),
        moved(~stays & old_key.isNotNull(), old_key, old, nothing),
        moved(~stays & new_key.isNotNull(), new_key, nothing, new),
    )
    exploded = rows.withColumns(keys).withColumn("moved", F.explode(F.array_compact(groups)))
    names = ("group_key", OLD_VALUE, "value")
    return exploded.withColumns({name: F.col(f"moved.{name}") for name in names})


def _fold(
    name: str, aggregation: Aggregation, undo: Expression | None, row: RowType, rows: DataFrame
) -> operators.Aggregation:
    function, argument = aggregation.function, aggregation.argument
    if undo is not None:
        assert argument is not None, "a reduce has an expression"
        combine, takes_back = combining(argument, row), combining(undo, row)
        return operators.Aggregation(
            name, "reduce", "value", combine, old=OLD_VALUE, undo=takes_back
        )

    def looked_at(value: str) -> Column:
        if argument is None:
            column = F.lit(1)
        elif aggregation.is_native:
            column = _over(argument, row, value)
        else:
            column = folded_value(aggregation, Scope.of_record(row, value=value), rows)
        return F.when(F.col(value).isNotNull(), column)

    entered, left = looked_at("value"), looked_at(OLD_VALUE)
    return operators.Aggregation(name, function, entered, old=left, limit=aggregation.limit)


def _over(expression: Expression, row: RowType, value: str) -> Column:
    return F.expr(expression.sql(Scope.of_record(row, value=value)))
