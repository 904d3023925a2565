"""Counts of rows, taken while Spark does something else with them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from pyspark.sql import Observation
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from headwater.connect.transforms.application import FAILED

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_LOOK_EVERY_S = 0.01


class Observed:
    """What is counted of rows, before and after their transforms, by the job that writes them."""

    def __init__(self) -> None:
        self._before: Observation | None = None
        self._after = Observation()

    def before(self, frame: DataFrame) -> DataFrame:
        """Count rows as they come; without this, all that come are still there afterwards."""
        self._before = Observation()
        return frame.observe(self._before, F.count(F.lit(1)).alias("read"))

    def after(self, frame: DataFrame, *further: Column) -> DataFrame:
        """Count rows that are well and rows that have failed, and further aggregates of theirs."""
        return frame.observe(
            self._after,
            F.count_if(F.col(FAILED).isNull()).alias("written"),
            F.count_if(F.col(FAILED).isNotNull()).alias("failed"),
            *further,
        )

    def counts(self, within_s: float) -> dict[str, Any] | None:
        """Return what was counted; None if Spark found a way to do without it."""
        deadline = time.monotonic() + within_s
        found: dict[str, Any] = {}
        for observation in (self._before, self._after):
            if observation is None:
                continue
            # `get` would wait for ever for what was not counted.
            future = observation._jo.future()  # type: ignore[union-attr] # noqa: SLF001
            while not future.isCompleted():
                if time.monotonic() > deadline:
                    return None
                time.sleep(_LOOK_EVERY_S)
            found |= observation.get
        return {"read": found["written"] + found["failed"], **found}
