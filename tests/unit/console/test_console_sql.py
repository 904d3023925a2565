"""SQL in the console: statements out of a text, and pictures out of descriptions."""

from __future__ import annotations

from headwater.console.model.programs.topology import layers_of, topology_of
from headwater.console.model.sql.sql_statements import Statement, statements_in
from headwater.console.view.pipelines.topology_picture import topology_picture

JOIN = """\
Topologies:
   Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000000 (topics: [orders])
      --> KSTREAM-JOIN-0000000002
    Source: KTABLE-SOURCE-0000000001 (topics: [<b>customers</b>])
      --> KSTREAM-JOIN-0000000002
    Processor: KSTREAM-JOIN-0000000002 (stores: [state])
      --> KSTREAM-SINK-0000000003
      <-- KSTREAM-SOURCE-0000000000, KTABLE-SOURCE-0000000001
    Sink: KSTREAM-SINK-0000000003 (topic: out)
      <-- KSTREAM-JOIN-0000000002
"""


def texts(text: str) -> list[str]:
    return [each.text for each in statements_in(text)]


def test_statements_end_where_they_end() -> None:
    assert texts("") == []
    assert texts(" ; ;") == []
    assert texts("SHOW TABLES") == ["SHOW TABLES"]
    assert texts("INSERT INTO a VALUES ('it''s; -- here', `b;`); SHOW STREAMS;") == [
        "INSERT INTO a VALUES ('it''s; -- here', `b;`)",
        "SHOW STREAMS",
    ]
    assert texts("-- first; this\n/* and; that */ SELECT 1 - 2 / 3 FROM a -- end;\n;") == [
        "SELECT 1 - 2 / 3 FROM a -- end;"
    ]
    assert texts("SELECT 'open; string") == ["SELECT 'open", "string"]


def test_what_kind_of_statement_it_is() -> None:
    assert Statement("select * from a").is_query
    assert not Statement("CREATE STREAM b AS SELECT * FROM a").is_query
    assert Statement("INSERT INTO a VALUES (1)").is_change
    assert Statement("TERMINATE ALL").is_change
    assert not Statement("show\nqueries").is_change
    set_ = Statement("SET 'auto.offset.reset' = 'earliest'")
    assert set_.changed({}) == {"auto.offset.reset": "earliest"}
    assert Statement("UNSET 'a'").changed({"a": "1", "b": "2"}) == {"b": "2"}
    assert Statement("SHOW TABLES").changed({}) is None


def test_a_topology_is_drawn_from_its_sources_on() -> None:
    nodes = topology_of(JOIN)
    assert [[node.label for node in layer] for layer in layers_of(nodes)] == [
        ["orders", "<b>customers</b>"],
        ["join"],
        ["out"],
    ]
    picture = topology_picture(JOIN)
    assert picture.count("<rect") == 4
    assert picture.count('class="way"') == 3
    assert "<b>" not in picture


def test_what_is_no_topology() -> None:
    assert topology_of("Computed from its topic, row by row.") == []
    assert "<svg" not in topology_picture("Computed from its topic, row by row.")
    circle = "Source: A (topics: [a])\n --> B\nProcessor: B (stores: [])\n --> A"
    assert sum(map(len, layers_of(topology_of(circle)))) == 2
