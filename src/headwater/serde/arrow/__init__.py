"""Whole columns at once: Arrow arrays of payloads into Arrow arrays of values, and back.

What Spark jobs and other batches use. It needs `pyarrow`, which the extra `spark` installs, and
knows nothing of Spark.
"""

from headwater.serde.arrow.deserializer import ArrowDeserializer
from headwater.serde.arrow.serializer import ArrowSerializer

__all__ = ["ArrowDeserializer", "ArrowSerializer"]
