"""Operators that make at most one record of one, as columns of one row: read and computed once."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

from headwater.plan.nodes import Branch, Filter, Map, Peek, Split, Table, ToStream
from headwater.spark.compiler.operands import called_column, first_met_column, operand_column
from headwater.spark.compiler.stateless import branch_name

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from headwater.plan.nodes import Operand, Operator
    from headwater.plan.processing.folding import Foldable


class Folded:
    """The shared input's rows, with the columns of each operator beside them under its prefix.

    Spark folds the renamings away; what stays is an expression for each operator. `reached` is true
    for the records that come so far. For others nothing is computed: it may not be computable.
    """

    def __init__(self, start: Operator, rows: DataFrame) -> None:
        self._names = {id(start): rows.columns}
        self._prefixes = {id(start): "op0_"}
        self.rows = rows.withColumns({f"op0_{name}": F.col(name) for name in rows.columns})
        self.rows = self.rows.withColumn("op0_reached", F.lit(True))

    def prefix(self, node: Operator) -> str:
        """Return what goes before the names of an operator's columns."""
        return self._prefixes[id(node)]

    def names(self, node: Operator) -> list[str]:
        """Return the names of an operator's columns, without what goes before them."""
        return self._names[id(node)]

    def follow(self, node: Foldable) -> None:
        """Add the columns of an operator, unless they are there, beside those of its input."""
        if id(node) in self._prefixes:
            return
        before = self._prefixes[id(node.parents[0])]
        names = self._names[id(node.parents[0])]
        made = {name: F.col(f"{before}{name}") for name in (*names, "reached")}
        made |= _made(node, before, F.col(f"{before}reached"))
        prefix = self._prefixes[id(node)] = f"op{len(self._prefixes)}_"
        self._names[id(node)] = [name for name in made if name != "reached"]
        self.rows = self.rows.withColumns({f"{prefix}{name}": made[name] for name in made})


def _made(node: Foldable, before: str, reached: Column) -> dict[str, Column]:
    """Return what an operator puts in the place of its input's columns, which have the prefix."""
    match node:
        case Filter():
            passes = _computed(node.predicate, node, before, reached)
            return {"reached": F.coalesce(passes, F.lit(False))}
        case Split():
            met = first_met_column(node.conditions, node.row, prefix=before, where=reached)
            return {branch_name(node): met}
        case Branch():
            is_here = F.col(f"{before}{branch_name(node.split)}") == node.index
            return {"reached": reached & F.coalesce(is_here, F.lit(False))}
        case Table():
            return {"reached": reached & F.col(f"{before}key").isNotNull()}
        case Peek():
            called = called_column(node.function, prefix=before, where=reached)
            return {"reached": F.coalesce(called, F.lit(False))}
        case Map():
            return _mapped(node, before, reached)
        case ToStream():
            return {}
        case _:
            assert_never(node)


def _mapped(node: Map, before: str, reached: Column) -> dict[str, Column]:
    if node.pair is not None:
        both = _computed(node.pair, node, before, reached)
        return {"key": both["key"], "value": both["value"]}
    given = {"key": node.key, "value": node.value, "timestamp": node.timestamp}
    return {
        name: _computed(part, node, before, reached)
        for name, part in given.items()
        if part is not None
    }


def _computed(operand: Operand, node: Foldable, before: str, reached: Column) -> Column:
    return operand_column(operand, node.parents[0].row, prefix=before, where=reached)
