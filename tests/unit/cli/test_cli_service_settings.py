"""One headwater.toml for the platform, and for each service alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import pytest

from headwater.broker.config.settings import BROKER_SETTINGS
from headwater.cli.options.service_settings import given_settings
from headwater.registry.settings import REGISTRY_SETTINGS

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
    return dict(given_settings(BROKER_SETTINGS, path, ()))


def test_a_service_takes_its_own_table(tmp_path: Path) -> None:
    path = tmp_path / "headwater.toml"
    path.write_text(PLATFORM)
    assert broker_settings(path) == {"num.partitions": "3", "broker.rack": "a"}
    registry = given_settings(REGISTRY_SETTINGS, path, ())
    assert dict(registry) == {"schema.compatibility.level": "FULL"}
    assert registry.place("schema.compatibility.level") == f"{path}, [registry]"


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


def test_property_wins_over_the_environment_and_that_over_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "server.properties"
    path.write_text("num.partitions=1\nflush=os\nbroker.rack=a\n")
    monkeypatch.setenv("HEADWATER_BROKER_NUM_PARTITIONS", "2")
    monkeypatch.setenv("HEADWATER_BROKER_FLUSH", "fsync")
    given = given_settings(BROKER_SETTINGS, path, ["num.partitions=3"])
    assert dict(given) == {"num.partitions": "3", "flush": "fsync", "broker.rack": "a"}


def test_a_variable_that_looks_like_a_slip_is_pointed_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HEADWATER_BROKER_NUM_PARTITION", "2")
    assert dict(given_settings(BROKER_SETTINGS, None, ())) == {}
    assert capsys.readouterr().err == (
        "HEADWATER_BROKER_NUM_PARTITION sets nothing;"
        " did you mean HEADWATER_BROKER_NUM_PARTITIONS?\n"
    )
