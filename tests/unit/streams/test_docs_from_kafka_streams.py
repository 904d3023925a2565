"""The page for who comes from Kafka Streams: every name of ours in it exists."""

from __future__ import annotations

import re

from tests.docs_page import ROOT

import headwater.streams
import headwater.testing

PAGE = ROOT / "docs" / "from-kafka-streams.md"
_ROW = re.compile(r"^\| [^|]+ \| ([^|]+) \|", re.MULTILINE)


def test_every_name_in_the_second_column_exists() -> None:
    cells = _ROW.findall(PAGE.read_text("utf-8"))
    names = [name for cell in cells for name in re.findall(r"`([\w.]+)`", cell)]
    assert len(names) > 80
    for name in names:
        owner, _, attribute = name.partition(".")
        found = getattr(headwater.streams, owner, None) or getattr(headwater.testing, owner)
        assert not attribute or hasattr(found, attribute), name


def test_all_that_can_be_done_with_streams_and_tables_is_on_the_page() -> None:
    text = PAGE.read_text("utf-8")
    for class_ in (
        headwater.streams.KStream,
        headwater.streams.KTable,
        headwater.streams.Suppressed,
        headwater.streams.Topology,
    ):
        methods = {name for name in dir(class_) if not name.startswith("_") and name.islower()}
        missing = {
            name for name in methods - {"row", "buffer"} if f"{class_.__name__}.{name}`" not in text
        }
        assert missing <= {"through"}, class_
