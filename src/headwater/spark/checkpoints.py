"""Where a program's progress is kept: one folder, for one program and one run of it at a time."""

from __future__ import annotations

import fcntl
import os
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from headwater.plan.splitting.fingerprint import Fingerprint, fingerprint_of
from headwater.spark.guarantees import bound_to_guarantee
from headwater.spark.hadoop_path import HadoopPath, NoSessionError, write_file
from headwater.spark.kept_guarantee import GUARANTEE_FILE, KeptGuarantee, next_batch
from headwater.spark.progress_topic import PROGRESS_TOPIC

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from headwater.plan.plan import Plan
    from headwater.plan.splitting.stages import Stage

_FINGERPRINT = "program.json"
_OWNER = "app.txt"
_CLUSTER = "cluster.txt"
_LOCK = "lock"
_QUERIES = "queries"
_COPIES = "progress-topic.txt"
_RESTORING = "restoring"


class CheckpointError(Exception):
    """A checkpoint that this program must not go on from; the message says what to do."""


class Checkpoint:
    """A program's folder; held for as long as the program runs."""

    def __init__(self, plan: Plan, stages: Sequence[Stage]) -> None:
        self._plan = plan
        self._stages = stages
        place = plan.settings.checkpoint_dir or default_directory(plan.name)
        self.path = HadoopPath(place) if isinstance(place, str) else place
        self._lock: TextIO | None = None
        self._cluster: str | None = None
        self._guarantee = KeptGuarantee(plan.settings.guarantee)

    def open(self) -> None:
        """Take the folder; refuse one that is in use, another program's, or does not fit.

        Nothing is written of the program until `keep`: one that is refused for another reason
        may be changed, and must find the folder as it was.
        """
        self._check_place()
        self.path.mkdir(parents=True, exist_ok=True)
        self._take()
        try:
            self._check_owner()
            self._check_program()
            self._check_guarantee()
            self._check_whole()
        except CheckpointError:
            self.close()
            raise

    @contextmanager
    def cleared(self) -> Iterator[None]:
        """Hold the folder, and at the end forget all progress and state in it.

        Refuses one that is in use, or another program's.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except NoSessionError:
            raise CheckpointError(
                f"{self.path} is on another file system: delete that folder there, to forget it"
            ) from None
        self._take()
        try:
            self._check_owner()
            yield
            _remove(self.path / _QUERIES)
            # Whose it is goes last: what was cleared by half is cleared again.
            for name in (_RESTORING, _COPIES, _CLUSTER, GUARANTEE_FILE, _FINGERPRINT, _OWNER):
                (self.path / name).unlink(missing_ok=True)
        finally:
            self.close()

    def check_cluster(self, id_: str | None) -> None:
        """Refuse another cluster than that of the last run: offsets mean something else there.

        A folder that does not say where it was written, or a cluster without an id, is let pass.
        """
        known = self.path / _CLUSTER
        before = known.read_text("utf-8") if known.exists() else id_
        if id_ is not None and before != id_:
            raise CheckpointError(
                f"{self.path} has offsets of the cluster {before}, and the one at "
                f"{self._plan.settings.cluster.bootstrap_servers} is {id_}, where they mean other "
                "records. Connect to the old cluster, or give this app another name or "
                "checkpoint_dir to start afresh, or delete that folder"
            )
        self._cluster = id_

    def keep(self) -> None:
        """Write down which program, on which cluster, goes on from here."""
        write_file(self.path / _OWNER, self._plan.name)
        write_file(self.path / _FINGERPRINT, fingerprint_of(self._stages).to_json())
        self._guarantee.write(self.path)
        if self._cluster is not None:
            write_file(self.path / _CLUSTER, self._cluster)
        if self._plan.settings.from_topics:
            write_file(self.path / _COPIES, PROGRESS_TOPIC)

    @property
    def copies_progress(self) -> bool:
        """Whether progress was copied to the cluster by an earlier run."""
        return (self.path / _COPIES).exists()

    @property
    def can_be_restored(self) -> bool:
        """Whether there is nothing to go on from here."""
        return self.is_new or (self.path / _RESTORING).exists()

    @contextmanager
    def restoring(self) -> Iterator[None]:
        """Let queries' folders be filled; what was filled by half does not count."""
        write_file(self.path / _RESTORING, "this folder is being filled from the cluster")
        _remove(self.path / _QUERIES)
        try:
            yield
        except CheckpointError:  # a refusal: there is nothing to go on with
            _remove(self.path / _QUERIES)
            raise
        finally:
            if not any(self.path.glob(f"{_QUERIES}/*")):
                (self.path / _RESTORING).unlink()
        (self.path / _RESTORING).unlink(missing_ok=True)

    def begin_anew(self, queries: Iterable[str]) -> None:
        """Note that no batch of these queries, as they are numbered here, was ever written."""
        since = {name: next_batch(self.of_query(name)) for name in queries}
        self._guarantee = KeptGuarantee(self._plan.settings.guarantee, since)
        self._guarantee.write(self.path)

    def close(self) -> None:
        """Let another run have it."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    @property
    def needs_session(self) -> bool:
        """Whether it is on a file system that only Spark reaches."""
        return isinstance(self.path, HadoopPath)

    @property
    def is_new(self) -> bool:
        """Whether no query has begun yet, so that a program starts where it says."""
        return not any(self.path.glob("queries/*/offsets/*"))

    def of_query(self, name: str) -> Path | HadoopPath:
        """Return the folder of one query."""
        return self.path / _QUERIES / name

    def is_first_of_guarantee(self, name: str) -> bool:
        """Tell whether all finished batches of a query were written with the other guarantee."""
        return self._guarantee.since.get(name) == next_batch(self.of_query(name))

    def _take(self) -> None:
        if isinstance(self.path, HadoopPath):
            return  # Spark tells two runs apart when both write down the same batch
        # The lock is the process's: it is gone with the process, however that ends.
        lock = open(self.path / _LOCK, "a+", encoding="utf-8")  # noqa: SIM115 - held while running
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            holder = lock.read().strip() or "another process"
            lock.close()
            raise CheckpointError(
                f"{self.path} is in use by {holder}: stop it first, or give this app a "
                "checkpoint_dir of its own"
            ) from None
        lock.truncate(0)
        lock.write(f"the app '{self._plan.name}' (process {os.getpid()})")
        lock.flush()
        self._lock = lock

    def _check_place(self) -> None:
        if self._plan.settings.from_topics and isinstance(self.path, HadoopPath):
            raise CheckpointError(
                f"--from-topics is for checkpoints on a disk of this machine, and {self.path} is "
                "reached from any: leave the option out, and run the program there with the same "
                "--checkpoint-dir"
            )

    def _check_owner(self) -> None:
        owner = self.path / _OWNER
        name = owner.read_text("utf-8") if owner.exists() else self._plan.name
        if name != self._plan.name:
            raise CheckpointError(
                f"{self.path} belongs to the app '{name}', and this one is '{self._plan.name}': "
                "give it a checkpoint_dir of its own"
            )

    def _check_program(self) -> None:
        known = self.path / _FINGERPRINT
        if known.exists():
            now = fingerprint_of(self._stages)
            changes = now.changes_since(Fingerprint.from_json(known.read_text("utf-8")))
            if changes:
                raise CheckpointError(
                    f"the program has changed since {self.path} was written, and cannot go on from "
                    f"there: {'; '.join(changes)}. Give it another name or checkpoint_dir to start "
                    "afresh, or forget what it has done with headwater run --reset"
                )

    def _check_whole(self) -> None:
        if (self.path / _RESTORING).exists() and not self._plan.settings.from_topics:
            raise CheckpointError(
                f"{self.path} was being filled from the cluster when a run of "
                f"'{self._plan.name}' ended: go on with headwater run --from-topics, or start "
                "afresh with --reset"
            )

    def _check_guarantee(self) -> None:
        """Refuse another guarantee where what was kept under the old one does not fit."""
        before = KeptGuarantee.read(self.path)
        if before is None or self.is_new:
            return
        now = self._plan.settings.guarantee
        bound = () if before.guarantee == now else bound_to_guarantee(self._stages)
        if bound:
            raise CheckpointError(
                f"{self.path} was written with guarantee={before.guarantee!r}, and cannot go on "
                f"with {now!r}: {'; '.join(map(str, bound))}. Go back to {before.guarantee!r}, or "
                "give this app another name or checkpoint_dir to start afresh, or delete that "
                "folder"
            )
        self._guarantee = before.followed_by(now, self.path / _QUERIES)


def _remove(folder: Path | HadoopPath) -> None:
    if isinstance(folder, HadoopPath):
        folder.remove_tree()
    else:
        shutil.rmtree(folder, ignore_errors=True)


def default_directory(name: str) -> Path:
    """Return where a program keeps its progress when it does not say."""
    return Path.home() / ".headwater" / "checkpoints" / name
