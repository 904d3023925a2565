"""What `headwater up` tells its console: where the nodes of an Apache Kafka on this machine are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from headwater.console.config import ConsoleConfig
from headwater.up.platform import Platform
from headwater.up.settings import PlatformSettings

if TYPE_CHECKING:
    import pytest

    from headwater.up.service import Service


def _console(directory: Path, engine: str, **given: str) -> Service:
    settings = PlatformSettings(
        data=directory, engine=engine, free_ports=True, properties={"console": given}
    )
    with Platform(settings) as platform:
        (console,) = [each for each in platform.services if each.name == "console"]
        return console


def _told(console: Service) -> dict[str, str]:
    """Return what is said of the settings in its command."""
    words = zip(console.command, console.command[1:], strict=False)
    return dict(after.split("=", 1) for word, after in words if word == "--property")


def test_the_console_knows_where_the_nodes_of_a_cluster_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    told = _told(_console(Path("platform"), "kafka"))
    assert ConsoleConfig.from_settings(told).cluster.data == tmp_path / "platform"


def test_what_a_person_has_said_of_them_stays(tmp_path: Path) -> None:
    console = _console(tmp_path, "kafka", **{"cluster.data": "/elsewhere"})
    assert "cluster.data" not in _told(console)
    assert "/elsewhere" in console.environment.values()


def test_the_embedded_broker_has_no_nodes_of_its_own(tmp_path: Path) -> None:
    assert "cluster.data" not in _told(_console(tmp_path, "embedded"))
