"""Rows of a source as the records that are written: transformed, and converted to bytes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headwater.connect.converters.converter import converter_for
from headwater.connect.converters.headers import header_converter_for
from headwater.connect.transforms.application import FAILED, apply_steps
from headwater.connect.transforms.chain import read_chain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from headwater.connect.connectors.connector import SourceRows
    from headwater.connect.transforms.transform import Step
    from headwater.connect.worker.connector_spec import ConnectorSpec
    from headwater.connect.worker.observed import Observed

_RECORD = ("topic", "partition", "key", "value", "headers", "timestamp")


class SourceRecords:
    """What a connector's configuration makes of rows."""

    def __init__(self, spec: ConnectorSpec) -> None:
        self._tolerates_errors = spec.tolerates_errors
        self._chain = read_chain(spec.properties, of_source=True)
        self._key = converter_for(spec.key.class_name, spec.key.settings, is_key=True)
        self._value = converter_for(spec.value.class_name, spec.value.settings, is_key=False)
        self._headers = header_converter_for(spec.header.class_name, spec.header.settings)

    def of(self, rows: SourceRows, observed: Observed | None = None) -> DataFrame:
        """Return records, and in the column FAILED why one is left out."""
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        from headwater.connect.python_functions import register_functions
        from headwater.connect.worker.frames import refusing_failed, whole

        steps, shape = self._chain.compile(replace(rows.shape, headers=self._headers))
        register_functions(rows.frame.sparkSession, steps)
        frame = rows.frame
        if observed is not None and any(step.where is not None for step in steps):
            frame = observed.before(frame)
        frame = apply_steps(whole(frame), steps)
        if not self._tolerates_errors:
            frame = refusing_failed(frame, F.concat(F.lit("a record is refused: "), F.col(FAILED)))
        topics: list[str] = []
        if self._key.needs_topics or self._value.needs_topics:
            known = _known_topics(rows, steps)
            if known is None:
                found = frame.select("topic").distinct().collect()
                known = frozenset(each.topic for each in found)
            topics = sorted(known)
        return frame.withColumns(
            {
                "key": self._key.to_bytes(F.col("key"), shape.key, topics),
                "value": self._value.to_bytes(F.col("value"), shape.value, topics),
            }
        ).select(*_RECORD, FAILED)

    def known_topics(self, rows: SourceRows) -> frozenset[str] | None:
        """Return the topics of the records; None where one would have to look through them."""
        steps, _ = self._chain.compile(replace(rows.shape, headers=self._headers))
        return _known_topics(rows, steps)


def _known_topics(rows: SourceRows, steps: Sequence[Step]) -> frozenset[str] | None:
    # A step may send records elsewhere, and may leave none for a topic.
    changed = any(step.where is not None or "topic" in step.columns for step in steps)
    return None if changed else rows.topics
