"""Spark's writer of files, for the one checkpoint that its directory belongs to.

Spark numbers the batches of a query, and its file sink leaves out those whose numbers are in the
directory's log. A query that begins again at 0 would lose as many batches as the log has. And a log
that does not begin at 0 can neither be continued nor read once Spark wants to compact it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql.streaming.readwriter import DataStreamWriter

from headwater.plan.errors import PlanError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_LOG = "_spark_metadata"
_COMPACTED = ".compact"


class FileWriter(DataStreamWriter):
    """Refuses a checkpoint that is not the one of the directory's log, with a PlanError."""

    def __init__(self, frame: DataFrame, directory: str) -> None:
        super().__init__(frame)
        self._directory = directory

    def option(self, key: str, value: Any) -> DataStreamWriter:
        """Set an option; with `checkpointLocation`, check that it goes with the directory."""
        if key == "checkpointLocation":
            self._check(str(value))
        return super().option(key, value)

    def options(self, **options: Any) -> DataStreamWriter:
        """Set options, as `option` does."""
        for key, value in options.items():
            self.option(key, value)
        return self

    def _check(self, checkpoint: str) -> None:
        written = _last_batch(self._spark, self._directory, _LOG)
        # Spark notes what is in a batch before it writes it, and that it is written afterwards.
        if written > _last_batch(self._spark, checkpoint, "offsets"):
            raise PlanError(
                f"the folder {self._directory} has files of another query, or of another "
                f"checkpoint of this one, up to batch {written}; Spark would leave out as many "
                "batches of this one. Name another folder in to_files, or delete this one"
            )
        finished = _last_batch(self._spark, checkpoint, "commits")
        if written < finished:
            raise PlanError(
                f"the folder {self._directory} does not have what this query wrote up to batch "
                f"{finished}, and Spark cannot go on in another one. Name the old folder in "
                "to_files, or start afresh with a new --checkpoint-dir"
            )


def _last_batch(spark: SparkSession, directory: str, log: str) -> int:
    """Return the last batch in a log of Spark's, -1 for none, on any file system it knows."""
    jvm: Any = spark._jvm  # noqa: SLF001 - PySpark has no other way to Hadoop's file systems
    session: Any = spark._jsparkSession  # noqa: SLF001
    path = jvm.org.apache.hadoop.fs.Path(jvm.org.apache.hadoop.fs.Path(directory), log)
    files = path.getFileSystem(session.sessionState().newHadoopConf())
    if not files.exists(path):
        return -1
    names = [
        str(each.getPath().getName()).removesuffix(_COMPACTED) for each in files.listStatus(path)
    ]
    return max((int(name) for name in names if name.isdigit()), default=-1)
