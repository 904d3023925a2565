"""Goes on from a cluster where there is no checkpoint: progress from its topic, state from records.

A query without state gets the files that Spark had written, and goes on as if they had never been
away. State is computed again: the first batch is made to end where the results end, and to write
nothing. So every operator can be restored whose state follows from the records that it has read,
as long as they are all there.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater.plan.nodes import FileSink, TopicSink
from headwater.processes.whole_file import write_whole
from headwater.spark.checkpoints import CheckpointError
from headwater.spark.progress_topic import PROGRESS_TOPIC, ProgressTopic

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from headwater.plan.plan import Plan
    from headwater.spark.cluster import Cluster
    from headwater.spark.jobs.running_query import RunningQuery
    from headwater.spark.progress_topic import QueryProgressCopy

_INSTEAD = (
    "Start afresh with headwater run --reset, from a time with --replay-from, or bring back the "
    "checkpoint"
)
_WATERMARK = "batchWatermarkMs"
_NEXT_WATERMARK = "nextBatchWatermarkMs"


@dataclass(frozen=True)
class Restoration:
    """Restores the queries of one program, each in its folder."""

    plan: Plan
    cluster: Cluster
    folder_of: Callable[[str], Path]
    rebuild: Callable[[RunningQuery], None]
    """Runs the batch that a query's folder says is planned, and writes nothing."""
    notice: Callable[[str], None]

    def restore(self, queries: Mapping[str, RunningQuery]) -> tuple[str, ...]:
        """Bring all queries to where their results end; returns those whose batches begin anew.

        Raises CheckpointError, mostly before anything is written.
        """
        topic = ProgressTopic(self.plan.settings.cluster.for_admin(), self.plan.name)
        kept = topic.read()
        if not kept:
            self.notice(
                f"{PROGRESS_TOPIC} has no progress of '{self.plan.name}': it starts where the "
                "program says"
            )
            return ()
        gone = sorted(kept.keys() - queries.keys())
        if gone:
            raise CheckpointError(
                f"{PROGRESS_TOPIC} has progress of {', '.join(gone)}, which the program no longer "
                f"has. {_INSTEAD}"
            )
        positions = {
            name: self._position(running, kept[name], topic)
            for name, running in queries.items()
            if name in kept
        }
        for name, position in positions.items():
            self._write(self.folder_of(name), position)
        anew = []
        for name, position in positions.items():
            if position.is_rebuilt and position.batches:
                self.notice(f"{name}: computing its state again, from where it began")
                self._rebuild(queries[name], position)
                anew.append(name)
            else:
                self.notice(f"{name}: going on after batch {position.progress.done}")
        return tuple(anew)

    def _position(
        self, running: RunningQuery, progress: QueryProgressCopy, topic: ProgressTopic
    ) -> _Position:
        name, stage = running.query.name, running.stage
        read = {place for text in progress.offsets.values() for place in _places(text)}
        if {place[0] for place in read} - {*stage.topics_read}:
            raise CheckpointError(
                f"{name} has read {', '.join(sorted({place[0] for place in read}))}, and now reads "
                f"{', '.join(sorted({*stage.topics_read}))}. {_INSTEAD}"
            )
        if not stage.stateful:
            return _Position(progress, dict(progress.offsets), dict(progress.commits))
        self._check_state(running, progress)
        end = self._written(running, progress, topic)
        if end < 0:
            return _Position(progress, {}, {}, is_rebuilt=True)
        return _Position(progress, {end: progress.offsets[end]}, {}, is_rebuilt=True)

    def _check_state(self, running: RunningQuery, progress: QueryProgressCopy) -> None:
        """Refuse state that cannot be computed again."""
        for node in running.stage.stateful:
            if node.has_own_clock:
                raise CheckpointError(
                    f"{node.location}: {node.id} goes by the clock on the wall, and its state does "
                    f"not follow from its records. {_INSTEAD}"
                )
        if isinstance(running.query.sink, FileSink):
            raise CheckpointError(
                f"{running.query.sink.location}: files are numbered by the batches of a checkpoint,"
                f" which begin anew when state is computed again. {_INSTEAD}"
            )
        begun = {place: at for text in progress.sources.values() for place, at in _begun(text)}
        first = self.cluster.earliest(begun)
        for (topic, partition), offset in begun.items():
            if first[topic, partition] > offset:
                raise CheckpointError(
                    f"{running.query.name} keeps state of {topic} [{partition}] from offset "
                    f"{offset} on, and the topic begins at {first[topic, partition]} by now: what "
                    f"was before is deleted, and cannot be computed again. {_INSTEAD}"
                )

    def _written(
        self, running: RunningQuery, progress: QueryProgressCopy, topic: ProgressTopic
    ) -> int:
        """Return the last batch whose results are written."""
        is_sure = progress.done == progress.planned
        transactional = self.plan.settings.guarantee == "exactly_once"
        if is_sure or not transactional or not isinstance(running.query.sink, TopicSink):
            return progress.done
        written, of = topic.tasks_written(running.query.name, progress)
        if 0 < written < of:
            raise CheckpointError(
                f"{written} of {of} tasks of batch {progress.planned} of {running.query.name} were "
                "written when it ended, and only its state could tell which rows are missing. "
                f"{_INSTEAD}"
            )
        return progress.planned if written else progress.done

    def _write(self, folder: Path, position: _Position) -> None:
        progress = position.progress
        for number, text in progress.sources.items():
            _put(folder / "sources" / number / "0", text)
        if position.is_rebuilt:
            # Batches are counted from the first, in a checkpoint of its own.
            _put(folder / "metadata", json.dumps({"id": str(uuid.uuid4())}))
            for text in position.offsets.values():
                _put(folder / "offsets" / "0", _at_watermark(text, 0))
            return
        for kind, files in (("offsets", position.offsets), ("commits", position.commits)):
            for batch, text in files.items():
                _put(folder / kind / str(batch), text)
        _put(folder / "metadata", progress.metadata)

    def _rebuild(self, running: RunningQuery, position: _Position) -> None:
        self.rebuild(running)
        (text,) = position.offsets.values()
        watermark = int(_header(text)[_WATERMARK])
        if not watermark:
            return
        # What was final at this time was written. What became so by the last records may not be.
        folder = self.folder_of(running.query.name)
        latest = json.loads((folder / "commits" / "0").read_text("utf-8").splitlines()[1])
        _put(folder / "offsets" / "1", text)
        self.rebuild(running)
        version, commit = (folder / "commits" / "1").read_text("utf-8").splitlines()
        now = {**json.loads(commit), _NEXT_WATERMARK: latest[_NEXT_WATERMARK]}
        _put(folder / "commits" / "1", f"{version}\n{json.dumps(now, separators=(',', ':'))}")


@dataclass(frozen=True)
class _Position:
    """Where a query goes on, in files of its checkpoint."""

    progress: QueryProgressCopy
    offsets: Mapping[int, str]
    commits: Mapping[int, str]
    is_rebuilt: bool = False

    @property
    def batches(self) -> int:
        return len(self.offsets)


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Spark's checksum of what was there before would not fit.
    path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
    write_whole(path, text)


def _header(offsets: str) -> dict[str, Any]:
    header: dict[str, Any] = json.loads(offsets.splitlines()[1])
    return header


def _at_watermark(offsets: str, watermark_ms: int) -> str:
    version, _, *rest = offsets.splitlines()
    header = {**_header(offsets), _WATERMARK: watermark_ms}
    return "\n".join([version, json.dumps(header, separators=(",", ":")), *rest])


def _places(offsets: str) -> list[tuple[str, int]]:
    """Return the partitions that a batch has read."""
    lines = [line for line in offsets.splitlines()[2:] if line.startswith("{")]
    return [place for line in lines for place, _ in _by_partition(line)]


def _begun(source: str) -> list[tuple[tuple[str, int], int]]:
    """Return where a source began; its file has a zero byte and a version before."""
    return _by_partition(source[source.index("{") :])


def _by_partition(line: str) -> list[tuple[tuple[str, int], int]]:
    return [
        ((topic, int(partition)), int(offset))
        for topic, partitions in json.loads(line).items()
        for partition, offset in partitions.items()
    ]
