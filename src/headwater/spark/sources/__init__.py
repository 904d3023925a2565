"""Where records come from: one module for each kind of source, found by the type of its node."""

from headwater.spark.sources.registry import reader_of

__all__ = ["reader_of"]
