"""Records as DataFrames: columns made whole, and what fails set apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from headwater.connect.transforms.application import FAILED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, DataFrame

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


def refusing_failed(frame: DataFrame, message: Column) -> DataFrame:
    """Fail with the first record that has failed."""
    check = F.when(F.col(FAILED).isNull(), F.lit(True)).otherwise(
        F.raise_error(message).cast("boolean")
    )
    return frame.where(check)


def well(frame: DataFrame) -> DataFrame:
    """Return the records that have not failed."""
    return frame.where(F.col(FAILED).isNull()).drop(FAILED)
