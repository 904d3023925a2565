"""Pictures of plans: Kafka's text, Mermaid, SVG."""

from __future__ import annotations

from xml.etree import ElementTree

from headwater.streams import App, tumbling


def _app() -> App:
    app = App("plant")
    readings = app.stream("readings", value_type="id string, value double")
    readings.filter("value > 800000").to("alerts")
    by_minute = readings.group_by("id").windowed_by(tumbling("1 minute"))
    by_minute.avg("value").to_stream().to("averages")
    return app


def test_text_is_as_kafka_streams_prints_it() -> None:
    assert _app().describe() == (
        """Topologies:
   Sub-topology: 0 in real-time mode
    Source: KSTREAM-SOURCE-0000000000 (topics: [readings])
      --> KSTREAM-FILTER-0000000001
    Processor: KSTREAM-FILTER-0000000001 (stores: [])
      --> KSTREAM-SINK-0000000002
      <-- KSTREAM-SOURCE-0000000000
    Sink: KSTREAM-SINK-0000000002 (topic: alerts)
      <-- KSTREAM-FILTER-0000000001

   Sub-topology: 1 in micro-batches (KSTREAM-AGGREGATE-0000000003: an aggregate with one result \
for each batch)
    Source: KSTREAM-SOURCE-0000000000 (topics: [readings])
      --> KSTREAM-AGGREGATE-0000000003
    Processor: KSTREAM-AGGREGATE-0000000003 (stores: [KSTREAM-AGGREGATE-STATE-STORE-0000000003])
      --> KTABLE-TOSTREAM-0000000004
      <-- KSTREAM-SOURCE-0000000000
    Processor: KTABLE-TOSTREAM-0000000004 (stores: [])
      --> KSTREAM-SINK-0000000005
      <-- KSTREAM-AGGREGATE-0000000003
    Sink: KSTREAM-SINK-0000000005 (topic: averages)
      <-- KTABLE-TOSTREAM-0000000004
"""
    )


def test_mermaid_has_stages_topics_stores_and_repartitions() -> None:
    text = _app().mermaid()
    assert text.startswith("flowchart LR\n")
    assert text.count("subgraph") == text.count("  end\n") == 2
    assert text.count('(["readings"])') == 1
    assert '[("KSTREAM-AGGREGATE-STATE-STORE-0000000003")]' in text
    assert "-->|repartition|" in text
    assert "value &gt; 800000" in text


def test_svg_is_well_formed_and_nothing_overlaps() -> None:
    root = ElementTree.fromstring(_app().svg())
    name = "{http://www.w3.org/2000/svg}"
    boxes = [
        tuple(float(box.attrib[side]) for side in ("x", "y", "width", "height"))
        for box in root.iter(f"{name}rect")
        if box.attrib["class"] != "lane"
    ]
    assert len(boxes) == 3 + 2 + 4 + 2 + 1
    for index, (x, y, width, height) in enumerate(boxes):
        for other_x, other_y, _, _ in boxes[:index]:
            assert abs(x - other_x) >= width or abs(y - other_y) >= height
    texts = [text.text for text in root.iter(f"{name}text")]
    assert "alerts" in texts
    assert "KSTREAM-AGGREGATE-STATE-STORE-0000000…" in texts


def test_internal_topics_are_shown_on_both_sides() -> None:
    app = App("plant")
    counts = app.stream("readings", value_type="id string").group_by_key().count()
    counts.to_stream().group_by("count").count().to_stream().to("histogram")
    topic = "plant-KSTREAM-AGGREGATE-0000000003-repartition"
    assert app.describe().count(f"(topic: {topic})") == 1
    assert app.describe().count(f"(topics: [{topic}])") == 1
    assert app.mermaid().count(f'(["{topic}"])') == 1
    assert app.svg().count('class="internal"') == 2
