"""What an operator computes from a record: an expression natively, a Python function by Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

from headwater.plan.expressions import Expression
from headwater.plan.scope import Scope
from headwater.spark.arrow_functions import arrow_function, arrow_type

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column

    from headwater.plan.nodes import Operand
    from headwater.plan.python_function import PythonFunction
    from headwater.plan.rows import RowType


def operand_column(operand: Operand, row: RowType) -> Column:
    """Return the column that an operand computes over a record's own columns."""
    if isinstance(operand, Expression):
        return F.expr(operand.sql(Scope.of_record(row)))
    return _function_column(operand)


def _function_column(function: PythonFunction) -> Column:
    returned = arrow_type(function.returns)

    def call(keys: pa.Array, values: pa.Array) -> pa.Array:
        import pyarrow as pa

        results = [
            function(key, value)
            for key, value in zip(keys.to_pylist(), values.to_pylist(), strict=True)
        ]
        return pa.array(results, returned)

    # Not deterministic, says this: else Spark may call it twice for a record, and a user's
    # function may count, log or ask a server.
    called = arrow_function(call, function.returns.ddl()).asNondeterministic()
    column: Column = called(F.col("key"), F.col("value"))
    return column
