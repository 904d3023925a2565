"""What an operator computes from a record: an expression natively, a Python function by Arrow.

Columns of the record can have a prefix. With `where`, there is a result only for the records for
which it is true, and no function is called for the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

from headwater.plan.expressions.expressions import Expression
from headwater.plan.expressions.scope import Scope
from headwater.spark.arrow_functions import arrow_function, arrow_type

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa
    from pyspark.sql import Column

    from headwater.plan.expressions.python_function import PythonFunction
    from headwater.plan.nodes import Operand
    from headwater.plan.rows import RowType


def operand_column(
    operand: Operand, row: RowType, *, prefix: str = "", where: Column | None = None
) -> Column:
    """Return the column that an operand computes over a record's own columns."""
    if isinstance(operand, Expression):
        column = F.expr(operand.sql(Scope.of_record(row, prefix=prefix)))
        return column if where is None else F.when(where, column)
    returned = arrow_type(operand.returns)
    return _called(operand, returned, operand.returns.ddl(), prefix, where)


def called_column(
    function: PythonFunction, *, prefix: str = "", where: Column | None = None
) -> Column:
    """Return what is true for each record for which the function was called."""
    import pyarrow as pa

    def call(key: Any, value: Any) -> bool:
        function(key, value)
        return True

    return _called(call, pa.bool_(), "boolean", prefix, where)


def first_met_column(
    conditions: tuple[Operand, ...], row: RowType, *, prefix: str = "", where: Column | None = None
) -> Column:
    """Return the index of the first condition that holds, and where none does, their number."""
    import pyarrow as pa

    functions = [None if isinstance(each, Expression) else each for each in conditions]
    native = [
        operand_column(each, row, prefix=prefix, where=where)
        for each in conditions
        if isinstance(each, Expression)
    ]

    def first_met(key: Any, value: Any, holds: list[bool | None]) -> int:
        known = iter(holds)
        for index, function in enumerate(functions):
            if next(known) if function is None else function(key, value):
                return index
        return len(functions)

    holds = F.array(*native).cast("array<boolean>")
    return _called(first_met, pa.int32(), "int", prefix, where, holds)


def _called(
    function: Callable[..., Any],
    returned: pa.DataType,
    ddl: str,
    prefix: str,
    where: Column | None,
    *more: Column,
) -> Column:
    def results(*columns: pa.Array) -> list[Any]:
        lists = (column.to_pylist() for column in columns)
        return [function(*arguments) for arguments in zip(*lists, strict=True)]

    def call(*columns: pa.Array) -> pa.Array:
        import pyarrow as pa

        return pa.array(results(*columns), returned)

    def call_where(wanted: pa.Array, *columns: pa.Array) -> pa.Array:
        import pyarrow as pa

        found = iter(results(*(column.filter(wanted) for column in columns)))
        return pa.array([next(found) if each else None for each in wanted.to_pylist()], returned)

    columns = (F.col(f"{prefix}key"), F.col(f"{prefix}value"), *more)
    # Not deterministic, says this: else Spark may call it twice for a record, and a user's
    # function may count, log or ask a server.
    if where is None:
        column: Column = arrow_function(call, ddl).asNondeterministic()(*columns)
    else:
        column = arrow_function(call_where, ddl).asNondeterministic()(where, *columns)
    return column
