"""Tables that pipes can rely on, and JSON fields for bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cli.output import json_bytes, print_table

if TYPE_CHECKING:
    import pytest


def test_a_pipe_gets_tabs_and_no_colours(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["A", "B", "C", "D"], [("x y", 1, None, [1, 2]), ("", 2, True, [])])
    assert capsys.readouterr().out == "A\tB\tC\tD\nx y\t1\t-\t1,2\n\t2\tyes\t-\n"


def test_a_table_without_rows_has_its_header(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["A", "B"], [])
    assert capsys.readouterr().out == "A\tB\n"


def test_bytes_in_json() -> None:
    assert json_bytes(None, "value") == {"value": None}
    assert json_bytes(b"", "value") == {"value": ""}
    assert json_bytes(b"\xff", "value") == {"value_base64": "/w=="}
