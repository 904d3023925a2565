"""A dry run: the first records that a connector would write; nothing is written or committed."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any, cast

from headwater.connect.connectors.connector import ConnectorContext, ConnectorError
from headwater.connect.worker.config import StorageTopic, WorkerConfig
from headwater.connect.worker.connector_spec import ConnectorSpec
from headwater.connect.worker.offset_store import ConnectorOffsets
from headwater.connect.worker.progress import Progress
from headwater.connect.worker.sink_group import SinkGroup
from headwater.connect.worker.sink_task import SinkTask
from headwater.connect.worker.source_task import SourceTask
from headwater.connect.worker.spark_session import ConnectSession
from headwater.connect.worker.validation import validated
from headwater.spark.shared_session import SharedSession

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyspark.sql import DataFrame

    from headwater.clients import ClusterAccess
    from headwater.connect.connectors.connector import Sink, SourcePlugin

_NONE = StorageTopic(name="", replication_factor=1)


def previewed(
    name: str,
    config: Mapping[str, str],
    converters: Mapping[str, str],
    cluster: ClusterAccess,
    limit: int,
    conf: Mapping[str, str],
) -> list[dict[str, Any]]:
    """Return so many records, from a source's beginning, or that of a sink's topics.

    Raises ConnectorError, which says what is wrong with the configuration.
    """
    if errors := validated(config, converters).errors:
        raise ConnectorError("; ".join(errors))
    worker = WorkerConfig(
        cluster=cluster, group="preview", configs=_NONE, offsets=_NONE, statuses=_NONE,
        converters=converters, url="",
    )  # fmt: skip
    shared = SharedSession("headwater preview", conf=conf)
    session = ConnectSession(shared)
    spec = ConnectorSpec.read(name, config, converters)
    try:
        if spec.is_source:
            return _of_source(spec, worker, session, limit)
        return _of_sink(spec, worker, session, limit)
    finally:
        shared.stop()


def _of_source(
    spec: ConnectorSpec, worker: WorkerConfig, session: ConnectSession, limit: int
) -> list[dict[str, Any]]:
    context = ConnectorContext(
        name=spec.name, start_session=session.get, tasks_max=spec.tasks_max,
        properties=spec.properties,
    )  # fmt: skip
    source = cast("SourcePlugin", spec.plugin).open(spec.own, context)
    offsets = ConnectorOffsets(spec.name, {})
    task = SourceTask(spec, worker, source, offsets, session.get, Progress(), _ignore)
    try:
        records: list[dict[str, Any]] = []
        for rows in source.poll():
            records += _shown(task.records(rows), limit - len(records))
            if len(records) >= limit:
                break
        return records
    finally:
        task.close()


def _of_sink(
    spec: ConnectorSpec, worker: WorkerConfig, session: ConnectSession, limit: int
) -> list[dict[str, Any]]:
    group = SinkGroup(worker.client("preview"), spec.name)
    # Its sink is never asked for anything.
    sink = cast("Sink", group)
    task = SinkTask(spec, worker, sink, group, session.get, Progress(), _ignore)
    try:
        common = spec.common
        found = group.partitions(common.words("topics"), common.text("topics.regex") or "")
        starts, ends = group.starts(found), group.ends(found)
        records: list[dict[str, Any]] = []
        for each in found:
            end = min(ends[each], starts[each] + limit)
            if starts[each] < end and len(records) < limit:
                frame, _ = task.batch(each.topic, {each: (starts[each], end)})
                records += _shown(frame.drop("_raw_key", "_raw_value"), limit - len(records))
        return records
    finally:
        group.close()


def _shown(frame: DataFrame, limit: int) -> list[dict[str, Any]]:
    return [
        {name: _plain(value) for name, value in row.asDict(recursive=True).items()}
        for row in frame.limit(limit).collect()
    ]


def _plain(value: Any) -> Any:
    if isinstance(value, bytes | bytearray):
        try:
            return bytes(value).decode()
        except UnicodeDecodeError:
            return base64.b64encode(value).decode()
    try:
        json.dumps(value)
    except TypeError:
        return str(value)
    return value


def _ignore(_topics: Iterable[str]) -> None:
    pass
