"""The jobs in Quix Streams: quix_streams.py KIND SERVERS READINGS LIMITS OUTPUT RECORDS STATE."""

from __future__ import annotations

import sys
from typing import Any

from quixstreams import Application  # type: ignore[import-not-found]
from stopwatch import Stopwatch  # type: ignore[import-not-found]

THRESHOLD = 500_000


def main(
    kind: str, servers: str, readings: str, limits: str, output: str, records: str, state: str
) -> None:
    app = Application(
        broker_address=servers,
        consumer_group=output,
        auto_offset_reset="earliest",
        state_dir=state,
        loglevel="WARNING",
    )
    stopwatch = Stopwatch(int(records))

    def count(_value: Any) -> None:
        if stopwatch.tick():
            app.stop()

    frame = app.dataframe(app.topic(readings, key_deserializer="str", value_deserializer="json"))
    frame = frame.update(count)
    if kind == "filter":
        frame = frame[frame["value"] > THRESHOLD]
    elif kind == "count":
        frame = frame.tumbling_window(60_000).count().final()
    else:
        table = app.topic(limits, key_deserializer="str", value_deserializer="json")
        frame = frame.join_asof(app.dataframe(table), how="inner")
    frame.to_topic(app.topic(output, key_serializer="str", value_serializer="json"))
    app.run()


main(*sys.argv[1:])
