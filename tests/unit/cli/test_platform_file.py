"""One headwater.toml for the platform, and for each service alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import pytest

from headwater.broker.config.settings import BROKER_SETTINGS
from headwater.cli.platform_file import service_settings

if TYPE_CHECKING:
    from pathlib import Path

PLATFORM = """
[up]
data = "data"
[broker]
num.partitions = 3
broker.rack = "a"
[registry]
schema.compatibility.level = "FULL"
"""


def broker_settings(path: Path) -> dict[str, str]:
    return service_settings(path, "broker", BROKER_SETTINGS)


def test_a_service_takes_its_own_table(tmp_path: Path) -> None:
    path = tmp_path / "headwater.toml"
    path.write_text(PLATFORM)
    assert broker_settings(path) == {"num.partitions": "3", "broker.rack": "a"}
    assert service_settings(path, "registry") == {"schema.compatibility.level": "FULL"}


def test_names_without_a_table_are_the_services_own(tmp_path: Path) -> None:
    path = tmp_path / "broker.toml"
    path.write_text('num.partitions = 3\nbroker.rack = "a"\n[log]\nsegment.bytes = 1048576\n')
    assert broker_settings(path) == {
        "num.partitions": "3",
        "broker.rack": "a",
        "log.segment.bytes": "1048576",
    }


def test_properties_have_no_tables(tmp_path: Path) -> None:
    path = tmp_path / "server.properties"
    path.write_text("num.partitions=3\nup.and=away\n")
    assert broker_settings(path) == {"num.partitions": "3", "up.and": "away"}


def test_a_wrong_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "headwater.toml"
    path.write_text("[broker\n")
    with pytest.raises(click.BadParameter, match=r"headwater\.toml: "):
        broker_settings(path)
