"""The one place that builds a Spark session: sized for a small machine, quiet, on loopback.

>>> session_settings(cores=2, memory_gb=4.0)["spark.driver.memory"]
'1g'

Any setting of Spark can be given and wins over what stands here.
"""

from __future__ import annotations

import logging
import os
import re
import shlex
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError  # type: ignore[import-untyped]

from headwater.spark.class_archive import archive_options
from headwater.spark.jars import file_system_jars, session_jars
from headwater.spark.java_home import launching_java
from headwater.spark.jobs.slots import TASK_SLOTS
from headwater.spark.jvm_process import delete_at_its_end, end_jvm, make_folder, starting
from headwater.spark.program_files import send_program_files
from headwater.spark.secret_settings import SECRETS, handed_over, public_and_secret

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import SparkSession

LOG_VARIABLE = "HEADWATER_SPARK_LOG"

_LOOPBACK = "127.0.0.1"
_STREAMING = "org.apache.spark.sql.execution.streaming"
_LOG_SETTINGS = Path(__file__).with_name("log4j2.properties")

# In real-time mode every partition of the source and of a shuffle holds a slot all the time. Slots
# are threads that mostly wait, so there are many more of them than cores.
_LOCAL_SLOTS = 24
# As on a cluster; local mode alone would give up a job with its first failed task.
_TASK_ATTEMPTS = 4

_CLUSTER_HINT = (
    "is the address right, does the cluster have a worker with room, and can it reach this machine?"
)

# What a container may use, with cgroups of the second and of the first version.
_MEMORY_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)

_starting = threading.Lock()


class SessionError(Exception):
    """Spark did not start; the message says where, why, and what to do."""


def spark_session(
    name: str = "headwater",
    *,
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
) -> SparkSession:
    """Return the process's session, started on the first call.

    There is one per process: settings that Spark fixes at its start are those of the first call.
    Raises SessionError.
    """
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    with _starting:
        running = running_session()
        if running is not None:
            return running
        where = master or f"local[{_local_slots(conf or {})},{_TASK_ATTEMPTS}]"
        is_local = where.startswith("local")
        # Workers must run the Python that this program runs with, and not the one on the PATH;
        # only a cluster may have it elsewhere.
        own = None if is_local else os.environ.get("PYSPARK_PYTHON")
        os.environ["PYSPARK_PYTHON"] = own or sys.executable
        os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
        folder = make_folder()
        jars = (*session_jars(), *file_system_jars(conf or {}))
        settings = session_settings(jars=jars, master=where, folder=folder)
        settings |= dict(conf or {})
        if is_local:
            os.environ.setdefault("SPARK_LOCAL_IP", _LOOPBACK)
        builder = SparkSession.builder.appName(name).master(where)
        public, secret = public_and_secret(settings)
        for key, value in public.items():
            builder = builder.config(key, value)
        try:
            with launching_java(), handed_over(secret, folder), starting():
                session = builder.getOrCreate()
            delete_at_its_end(session, folder)
            if not is_local:
                send_program_files(session, folder)
        # Where the JVM has ended meanwhile, connections to it are refused.
        except (ConnectionError, Py4JError, PySparkException) as failure:
            error = _not_started(where, failure)
            end_jvm()
            raise error from failure
        # PySpark writes each refused expression to standard error as JSON; it is raised as well.
        for logger in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):
            logging.getLogger(logger).setLevel(logging.CRITICAL)
        # So does py4j with a JVM that dies while it is asked, and with Ctrl-C.
        logging.getLogger().addFilter(_is_not_of_py4j)
        return session


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    return record.module != "java_gateway"


def stop_session() -> None:
    """Stop the process's session, if there is one, and wait until its JVM is gone."""
    with _starting:
        end_jvm()


def session_settings(
    *,
    jars: Sequence[Path] = (),
    master: str = "local",
    cores: int | None = None,
    memory_gb: float | None = None,
    folder: Path | None = None,
) -> dict[str, str]:
    """Return Spark's settings for a machine of this size; by default, for this machine.

    `folder` is for what the JVM keeps on disk while it runs.
    """
    cores = cores or os.cpu_count() or 2
    memory_gb = memory_gb or available_gb()
    return {
        **_FIXED,
        **(_local(jars) if master.startswith("local") else _remote(jars)),
        "spark.driver.memory": "1g" if memory_gb < 6 else "2g",
        "spark.default.parallelism": str(cores),
        # A shuffle partition of a stateful query is a state store with files of its own: each
        # costs time in every batch, whether it has rows or not.
        "spark.sql.shuffle.partitions": str(min(cores, 2)),
        "spark.driver.extraJavaOptions": " ".join(_java_options(folder)),
        # Else the first to ask for it makes a folder in the user's working directory.
        **({} if folder is None else {"spark.sql.warehouse.dir": str(folder / "warehouse")}),
    }


def ui_address(spark: SparkSession) -> str | None:
    """Return where Spark's own web interface is, unless it was switched off."""
    return spark.sparkContext.uiWebUrl


def is_local(spark: SparkSession) -> bool:
    """Tell whether tasks run in the driver's own JVM."""
    master = spark.sparkContext.master or ""
    return master.startswith("local") and not master.startswith("local-cluster")


def task_slots(spark: SparkSession) -> int:
    """Return how many tasks can run at once; a cluster that says nothing of it has enough."""
    context = spark.sparkContext
    slots = re.fullmatch(r"local\[(\d+)(?:,\d+)?\]", context.master or "")
    if slots is not None:
        return int(slots[1])
    conf = context.getConf()
    executors, cores = conf.get("spark.executor.instances"), conf.get("spark.executor.cores")
    if executors and cores:
        return int(executors) * int(cores)
    return int(conf.get("spark.cores.max") or sys.maxsize)


def running_session() -> SparkSession | None:
    """Return the process's session, if it runs."""
    from pyspark.sql import SparkSession

    # PySpark's own question for a session knows it only in the thread that has made it.
    known: Any = SparkSession
    session: SparkSession | None = known._instantiatedSession  # noqa: SLF001
    if session is None or session.sparkContext._jsc is None:  # noqa: SLF001 - it was stopped
        return None
    return session


def _local_slots(conf: Mapping[str, str]) -> int:
    given = conf.get(TASK_SLOTS)
    if given is None:
        return _LOCAL_SLOTS
    if not given.isdigit() or not int(given):
        raise SessionError(f"{TASK_SLOTS} is {given!r}, and has to be how many tasks may run")
    return int(given)


def _not_started(where: str, failure: Exception) -> SessionError:
    java = getattr(failure, "java_exception", None)
    first = str(failure if java is None else java.getMessage()).strip().splitlines()
    reason = first[0] if first else type(failure).__name__
    hint = "" if where.startswith("local") else f"; {_CLUSTER_HINT}"
    shown = f"{LOG_VARIABLE}=info shows all that Spark has to say"
    return SessionError(f"Spark did not start on {where}: {reason}{hint}; {shown}")


_FIXED = {
    "spark.sql.streaming.stateStore.providerClass": f"{_STREAMING}.state.RocksDBStateStoreProvider",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # The default forks shells for every file of a checkpoint; this halves the time of a batch.
    "spark.sql.streaming.checkpointFileManagerClass": (
        f"{_STREAMING}.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    # It could give a batch another number of tasks when it is run again, and the exactly-once sink
    # tells what was written by task.
    "spark.sql.adaptive.streaming.stateless.enabled": "false",
    # It numbers the fields of our operators' rows wrongly, and the JVM crashes.
    "spark.sql.optimizer.serializer.nestedSchemaPruning.enabled": "false",
    # The one that real-time mode insists on: so a query can go on in it that had begun without, and
    # the other way round.
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
    # A real-time batch that was stopped leaves state behind; only real-time mode would begin with
    # the first batch again.
    "spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart": "false",
    # How long real-time mode collects rows on their way between two operators. By default, 50 ms:
    # as much later a join would know of a change to its table.
    "spark.shuffle.streaming.networkBufferMaxWaitTimeMs": "10",
    # Takes shuffles away that have nothing to do; see jvm/.
    "spark.sql.extensions": "io.headwater.planning.Extensions",
    "spark.sql.streaming.metricsEnabled": "false",
    "spark.sql.streaming.pollingDelay": "2ms",
    "spark.sql.streaming.minBatchesToRetain": "10",
    # Clients' passwords are in these, and Spark shows settings and options in its web interface.
    "spark.redaction.regex": SECRETS,
    "spark.sql.redaction.options.regex": "(?i)url|password|jaas|keystore",
    # Jobs share the session, and each has a pool: one with a large backlog holds up no other.
    "spark.scheduler.mode": "FAIR",
    "spark.sql.session.timeZone": "UTC",
    # SQL has times of the day.
    "spark.sql.timeType.enabled": "true",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.ui.showConsoleProgress": "false",
    "spark.ui.retainedJobs": "100",
    "spark.ui.retainedStages": "100",
    "spark.sql.ui.retainedExecutions": "50",
}


def _local(jars: Sequence[Path]) -> dict[str, str]:
    return {
        "spark.driver.bindAddress": _LOOPBACK,
        "spark.driver.host": _LOOPBACK,
        "spark.driver.extraClassPath": os.pathsep.join(str(jar) for jar in jars),
        # Hadoop's own runs a process for each file that it creates, a dozen for a batch with state.
        **({"spark.hadoop.fs.file.impl": "io.headwater.files.LocalFiles"} if jars else {}),
    }


def _remote(jars: Sequence[Path]) -> dict[str, str]:
    return {"spark.jars": ",".join(str(jar) for jar in jars)}


def _java_options(folder: Path | None) -> list[str]:
    options = [f"-Dlog4j2.configurationFile={_LOG_SETTINGS.as_uri()}", *archive_options()]
    if folder is not None:
        options.append(f"-Djava.io.tmpdir={folder}")
    if level := os.environ.get(LOG_VARIABLE):
        options.append(f"-Dheadwater.log={level}")
    return [shlex.quote(option) for option in options]


def available_gb(limits: Sequence[Path] = _MEMORY_LIMITS) -> float:
    """Return what the machine has, or what its container may use of that."""
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for limit in limits:
        # No file: not in a container, or another kind of it. "max": without a limit.
        with suppress(OSError, ValueError):
            found.append(int(limit.read_text()))
    return min(found) / (1 << 30)
