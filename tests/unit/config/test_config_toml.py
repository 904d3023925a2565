from __future__ import annotations

import pytest

from headwater.config import ConfigError
from headwater.config.toml import parse_toml


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
