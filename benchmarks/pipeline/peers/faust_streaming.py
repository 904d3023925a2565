"""The jobs in Faust: faust_streaming.py KIND SERVERS READINGS LIMITS OUTPUT RECORDS STATE."""

from __future__ import annotations

import os
import sys
from typing import Any

import faust  # type: ignore[import-not-found]
import uvloop
from stopwatch import Stopwatch  # type: ignore[import-not-found]

THRESHOLD = 500_000
PARTITIONS = 4


def main(
    kind: str, servers: str, readings: str, limits: str, output: str, records: str, state: str
) -> None:
    app = faust.App(
        output,
        broker=f"kafka://{servers}",
        # Faster than its RocksDB; both keep a changelog.
        store="memory://",
        datadir=state,
        web_enabled=False,
        topic_partitions=PARTITIONS,
        topic_replication_factor=1,
        topic_disable_leader=True,
        consumer_auto_offset_reset="earliest",
        # By default an agent that fails is started again, for ever.
        agent_supervisor="mode.supervisors:CrashingSupervisor",
    )
    source = app.topic(readings, key_type=str, value_serializer="json")
    sink = app.topic(output, key_type=str, value_serializer="json")
    stopwatch = Stopwatch(int(records))

    def count() -> None:
        if stopwatch.tick():
            # A graceful stop would first process what is in its buffers.
            os._exit(0)

    async def filter_readings(stream: Any) -> None:
        async for key, reading in stream.items():
            if reading["value"] > THRESHOLD:
                await sink.send(key=key, value=reading)
            count()

    async def count_readings(stream: Any) -> None:
        # The changelog of a table is a topic with each of its changes: the output of this job.
        async for key, _ in stream.items():  # noqa: PERF102 - a stream, no dict
            counts[key] += 1
            count()

    async def fill_table(stream: Any) -> None:
        async for key, limit in stream.items():
            table[key] = limit

    async def join_readings(stream: Any) -> None:
        async for key, reading in stream.items():
            limit = table.get(key)
            if limit is not None:
                await sink.send(key=key, value={**reading, **limit})
            count()

    if kind == "filter":
        app.agent(source)(filter_readings)
    elif kind == "count":
        table = app.Table("counts", default=int, partitions=PARTITIONS)
        counts = table.tumbling(60.0, expires=600.0).relative_to_stream()
        app.agent(source)(count_readings)
    else:
        table = app.Table("limits", partitions=PARTITIONS)
        changes = app.topic(limits, key_type=str, value_serializer="json")
        app.agent(changes)(fill_table)
        app.agent(source)(join_readings)
    worker = faust.Worker(
        app, loop=uvloop.new_event_loop(), loglevel="WARN", redirect_stdouts=False
    )
    worker.execute_from_commandline()


main(*sys.argv[1:])
