"""Where sources begin when a program is replayed."""

from __future__ import annotations

from typing import Any

from headwater.plan.nodes import Start
from headwater.spark.topics import TopicReader
from headwater.streams import App

NO_SPARK: Any = None  # nothing is read


def test_a_replay_begins_with_the_streams_and_reads_tables_whole() -> None:
    app = App("app")
    stream = app.stream("readings", value_type="n int", start="latest")
    stream.join(app.table("units", value_type="unit string")).to("out")
    sources = {source.topics[0]: source for source in app.plan().topic_sources()}
    as_it_says = TopicReader(NO_SPARK, "nowhere:1")
    assert as_it_says.start_of(sources["readings"]) == Start("latest")
    replayed = TopicReader(NO_SPARK, "nowhere:1", replay_from_ms=5)
    assert replayed.start_of(sources["readings"]) == Start("timestamp", 5)
    assert replayed.start_of(sources["units"]) == Start("earliest")
