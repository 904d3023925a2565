from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.broker.config.files import parse_properties, parse_toml, read_settings
from headwater.log.config_def import ConfigError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("", {}),
        ("# a comment\n! another\n\n   \n", {}),
        ("a=1\nb = 2\nc:3\nd : 4\ne 5\n", {"a": "1", "b": "2", "c": "3", "d": "4", "e": "5"}),
        ("  a =  1  \n", {"a": "1  "}),
        ("a=\nb\n", {"a": "", "b": ""}),
        ("a=x=y:z\n", {"a": "x=y:z"}),
        ("a=1\r\nb=2\rc=3", {"a": "1", "b": "2", "c": "3"}),
        ("a=1,\\\n   2,\\\n   3\nb=4\n", {"a": "1,2,3", "b": "4"}),
        ("a=one\\\\\nb=2\n", {"a": "one\\", "b": "2"}),
        ("a=1\\\n# not a comment\n", {"a": "1# not a comment"}),
        ("a=\\u0041\\t\\n\\:\\z\n", {"a": "A\t\n:z"}),
        ("a\\=b\\ c=1\n", {"a=b c": "1"}),
        ("a=1\na=2\n", {"a": "2"}),
        ("a=1\\", {"a": "1"}),
    ],
)
def test_properties_as_java_reads_them(text: str, settings: dict[str, str]) -> None:
    assert parse_properties(text) == settings


def test_toml_tables_and_dotted_keys_are_the_same() -> None:
    flat = '"log.dirs" = "/a"\n"log.retention.ms" = -1\n"log.cleaner.enable" = false\n'
    nested = '[log]\ndirs = "/a"\nretention.ms = -1\n[log.cleaner]\nenable = false\n'
    expected = {"log.dirs": "/a", "log.retention.ms": "-1", "log.cleaner.enable": "false"}
    assert parse_toml(flat) == parse_toml(nested) == expected


def test_toml_lists_are_joined_by_commas() -> None:
    text = 'listeners = ["PLAINTEXT://:1", "OTHER://:2"]\n'
    assert parse_toml(text) == {"listeners": "PLAINTEXT://:1,OTHER://:2"}


@pytest.mark.parametrize("value", ["2024-01-01", "[1, 2]", "[[1]]"])
def test_toml_values_that_no_setting_has_are_refused(value: str) -> None:
    with pytest.raises(ConfigError, match=r"log\.dirs"):
        parse_toml(f'"log.dirs" = {value}\n')


def test_the_ending_of_a_file_says_what_it_is(tmp_path: Path) -> None:
    toml, properties = tmp_path / "broker.toml", tmp_path / "server.properties"
    toml.write_text("[node]\nid = 3\n")
    properties.write_text("node.id=4\n")
    assert read_settings(toml) == {"node.id": "3"}
    assert read_settings(properties) == {"node.id": "4"}
