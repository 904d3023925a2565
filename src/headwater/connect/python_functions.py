"""Registers the Python functions that transforms call, as functions over Arrow columns."""

from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING, Any

from headwater.spark.arrow_functions import arrow_function

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import pyarrow as pa
    from pyspark.sql import SparkSession

    from headwater.connect.transforms.transform import FunctionCall, Step


def register_functions(spark: SparkSession, steps: Iterable[Step]) -> None:
    """Register what the steps call; raises ValueError for a path that leads to no function."""
    for step in steps:
        for call in step.functions:
            _load(call.path)  # here, where somebody is told, rather than in a worker
            spark.udf.register(call.name, arrow_function(_over_columns(call), call.returns))


def _over_columns(call: FunctionCall) -> Callable[[pa.Array], pa.Array]:
    from pyspark.sql.pandas.types import to_arrow_type
    from pyspark.sql.types import DataType

    type_ = to_arrow_type(DataType.fromDDL(call.returns), timezone="UTC")

    def over_columns(values: pa.Array) -> pa.Array:
        import pyarrow as pa

        function = _load(call.path)
        results = [None if value is None else function(value) for value in _read(values)]
        if call.is_json:
            results = [None if result is None else json.dumps(result) for result in results]
        return pa.array(results, type_)

    def _read(values: pa.Array) -> list[Any]:
        found: list[Any] = values.to_pylist()
        if not call.is_json:
            return found
        return [None if text is None else json.loads(text) for text in found]

    return over_columns


def _load(path: str) -> Callable[[Any], Any]:
    module, _, name = path.partition(":")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError) as failure:
        raise ValueError(
            f"there is no function {path}: {failure}. It must be importable where Spark's Python "
            "runs: in a package that is installed, or a folder in PYTHONPATH"
        ) from failure
    if not callable(found):
        raise ValueError(f"{path} is no function, but a {type(found).__name__}")
    made: Callable[[Any], Any] = found
    return made
