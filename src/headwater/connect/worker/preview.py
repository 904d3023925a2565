"""A dry run: the first records that a connector would write; nothing is written or committed."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any, cast

from headwater.connect.connectors.connector import ConnectorContext, ConnectorError
from headwater.connect.transforms.application import FAILED
from headwater.connect.worker.config import StorageTopic, WorkerConfig
from headwater.connect.worker.connector_spec import ConnectorSpec
from headwater.connect.worker.sink_group import SinkGroup
from headwater.connect.worker.sink_records import (
    RAW_HEADERS,
    RAW_KEY,
    RAW_VALUE,
    STAGE,
    SinkRecords,
)
from headwater.connect.worker.source_records import SourceRecords
from headwater.connect.worker.spark_session import ConnectSession
from headwater.connect.worker.validation import validated
from headwater.spark.shared_session import SharedSession

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame

    from headwater.clients import ClusterAccess
    from headwater.connect.connectors.connector import SourcePlugin

_UNSEEN = (RAW_KEY, RAW_VALUE, RAW_HEADERS, STAGE)
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
            return _of_source(spec, session, limit)
        return _of_sink(spec, worker, session, limit)
    finally:
        shared.stop()


def _of_source(spec: ConnectorSpec, session: ConnectSession, limit: int) -> list[dict[str, Any]]:
    context = ConnectorContext(
        name=spec.name, start_session=session.get, tasks_max=spec.tasks_max,
        properties=spec.properties,
    )  # fmt: skip
    source = cast("SourcePlugin", spec.plugin).open(spec.own, context)
    made = SourceRecords(spec)
    try:
        records: list[dict[str, Any]] = []
        for rows in source.poll():
            records += _shown(made.of(rows), limit - len(records))
            if len(records) >= limit:
                break
        return records
    finally:
        source.close()


def _of_sink(
    spec: ConnectorSpec, worker: WorkerConfig, session: ConnectSession, limit: int
) -> list[dict[str, Any]]:
    group = SinkGroup(worker.client("preview"), spec.name)
    made = SinkRecords(spec, worker)
    try:
        common = spec.common
        found = group.partitions(common.words("topics"), common.text("topics.regex") or "")
        starts, ends = group.starts(found), group.ends(found)
        records: list[dict[str, Any]] = []
        for each in found:
            end = min(ends[each], starts[each] + limit)
            if starts[each] < end and len(records) < limit:
                frame, _ = made.of(session.get(), each.topic, {each: (starts[each], end)})
                records += _shown(frame.drop(*_UNSEEN), limit - len(records))
        return records
    finally:
        group.close()


def _shown(frame: DataFrame, limit: int) -> list[dict[str, Any]]:
    return [
        {
            name: _plain(value)
            for name, value in row.asDict(recursive=True).items()
            if name != FAILED or value is not None
        }
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
