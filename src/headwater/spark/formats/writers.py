"""Who wrote a record, as native expressions over the id of a schema that its bytes start with."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

from headwater.serde.framing import ID_SIZE, id_prefix
from headwater.spark.formats.schemas import NEW_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyspark.sql import Column


class FoundWriter(NamedTuple):
    """What is true of a record's schema; all are null for a tombstone."""

    is_framed: Column
    is_known: Column
    is_refused: Column
    """The registry was asked, and does not have it."""


def found_writer(data: Column, writers: Mapping[int, str]) -> FoundWriter:
    """Look at the id in front; an empty text stands for one that the registry does not know."""
    return FoundWriter(
        is_framed(data),
        _is_one_of(data, (id_ for id_, text in writers.items() if text)),
        _is_one_of(data, (id_ for id_, text in writers.items() if not text)),
    )


def is_framed(data: Column) -> Column:
    """Tell whether bytes can start with an id."""
    return (data.substr(1, 1) == F.lit(b"\0")) & (F.length(data) >= ID_SIZE)


def new_schema(data: Column, subject: str) -> Column:
    """Return what ends a query at a schema that it does not know, and names it to the job."""
    number = F.conv(F.hex(data.substr(2, ID_SIZE - 1)), 16, 10)
    return F.raise_error(F.concat(F.lit(NEW_SCHEMA), number, F.lit(f" is new in {subject}")))


def _is_one_of(data: Column, ids: Iterable[int]) -> Column:
    # Not isin(): a key of Python's bytes is not what it takes.
    found = F.lit(False)
    for id_ in ids:
        found |= data.substr(1, ID_SIZE) == F.lit(id_prefix(id_))
    return found
