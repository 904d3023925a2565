"""What `headwater connect` reads from files, and says when nobody answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from headwater.cli.app import headwater
from headwater.cli.connect.connector_files import read_connector
from headwater.cli.errors import CommandError

if TYPE_CHECKING:
    from pathlib import Path


def test_connectors_are_read_from_json_and_properties(tmp_path: Path) -> None:
    config = {"connector.class": "FileStreamSource", "tasks.max": 1}
    as_sent = tmp_path / "sent.json"
    as_sent.write_text(json.dumps({"name": "a", "config": config}))
    plain = tmp_path / "plain.json"
    plain.write_text(json.dumps({"name": "a", **config}))
    properties = tmp_path / "a.properties"
    properties.write_text("name=a\nconnector.class=FileStreamSource\ntasks.max=1\n")
    assert read_connector(as_sent) == read_connector(plain) == ("a", {**config, "name": "a"})
    assert read_connector(properties) == ("a", {**config, "tasks.max": "1", "name": "a"})


@pytest.mark.parametrize(
    ("text", "reason"),
    [("{no json", "is not JSON"), ("{}", "has no name"), ("a=b\n", "has no name")],
)
def test_what_is_no_connector_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "connector"
    path.write_text(text)
    with pytest.raises(CommandError, match=reason):
        read_connector(path)


def test_who_does_not_answer_is_named() -> None:
    shown = CliRunner().invoke(headwater, ["connect", "list", "--url", "http://127.0.0.1:1"])
    assert shown.exit_code == 1
    assert "no Connect worker answers at http://127.0.0.1:1" in shown.output


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--plugin", "a:b:1"], "--plugin is for --engine kafka"),
        (["--engine", "kafka", "--conf", "spark.x=1"], "--conf is for Spark"),
        (["--engine", "kafka", "--users", __file__], "rest.extension.classes"),
        (["--engine", "kafka", "--property", "listeners=https://:8083"], "run with http"),
    ],
)
def test_options_of_the_other_engine_are_refused(options: list[str], reason: str) -> None:
    shown = CliRunner().invoke(headwater, ["connect", "worker", *options])
    assert shown.exit_code != 0
    said = shown.output if shown.exception is None else f"{shown.output}{shown.exception}"
    assert reason in " ".join(said.split())
