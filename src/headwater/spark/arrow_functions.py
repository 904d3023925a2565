"""Python functions over whole Arrow columns, as Spark's columns call them."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import DataType as SparkType

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from headwater.plan.schemas.types import DataType


def arrow_function(function: Callable[..., pa.Array], returns: str) -> Any:
    """Return a function of columns."""
    import pyarrow as pa

    # Spark takes the kind of function from annotations, and cannot read those that are text.
    names = (*inspect.signature(function).parameters, "return")
    function.__annotations__ = dict.fromkeys(names, pa.Array)
    return F.arrow_udf(function, returns)  # type: ignore[attr-defined]


def arrow_type(type_: DataType) -> pa.DataType:
    """Return the Arrow type in which Spark takes values of a type."""
    return to_arrow_type(SparkType.fromDDL(type_.ddl()), timezone="UTC")
