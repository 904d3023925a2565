"""What every source can do: give its records as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from headwater.plan.nodes import Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headwater.spark.compiler.nodes import NodeCompiler

POSITION = ("topic", "partition", "offset")
"""The columns of a record's position, where it has one."""

NO_HEADERS = "CAST(array() AS array<struct<key:string,value:binary>>)"
"""The column `headers` of a record without any."""

AnySource = TypeVar("AnySource", bound=Source, contravariant=True)


class SourceReader(Protocol[AnySource]):
    """Reads the sources of one type."""

    def rows(self, source: AnySource, compiler: NodeCompiler) -> DataFrame:
        """Return the records: key, value, timestamp, headers, and position if there is one.

        Of what is read as a table, these are its upserts, each with a key.
        """
