"""Records as DataFrames: columns made whole, transforms applied, and what fails set apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import Column, DataFrame

    from headwater.connect.transforms.transform import Step

FAILED = "_failed"
"""The column that says why a record cannot be converted or transformed; null where it can."""

_COLUMNS: Mapping[str, str] = {
    "topic": "STRING",
    "partition": "INT",
    "key": "STRING",
    "value": "STRING",
    "headers": "ARRAY<STRUCT<key: STRING, value: BINARY>>",
    "timestamp": "TIMESTAMP",
}


def whole(frame: DataFrame) -> DataFrame:
    """Return records with all columns; those that are missing are null, and nothing has failed."""
    missing = {
        name: F.lit(None).cast(kind)
        for name, kind in {**_COLUMNS, FAILED: "STRING"}.items()
        if name not in frame.columns
    }
    return frame.withColumns(missing) if missing else frame


def transformed(frame: DataFrame, steps: Sequence[Step]) -> DataFrame:
    """Apply transforms; what one of them cannot transform goes through the others as it is."""
    for step in steps:
        if step.failed is not None:
            frame = frame.withColumn(FAILED, F.coalesce(F.col(FAILED), F.expr(step.failed)))
        if step.where is not None:
            frame = frame.where(F.col(FAILED).isNotNull() | F.expr(step.where))
        if step.columns:
            is_well = F.col(FAILED).isNull()
            frame = frame.withColumns(
                {name: F.when(is_well, F.expr(sql)) for name, sql in step.columns.items()}
            )
    return frame


def refusing_failed(frame: DataFrame, message: Column) -> DataFrame:
    """Fail with the first record that has failed."""
    check = F.when(F.col(FAILED).isNull(), F.lit(True)).otherwise(
        F.raise_error(message).cast("boolean")
    )
    return frame.where(check)


def well(frame: DataFrame) -> DataFrame:
    """Return the records that have not failed."""
    return frame.where(F.col(FAILED).isNull()).drop(FAILED)
