"""Connect with Kafka's engine as a service of the platform."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from headwater.security.kit import SecurityKit
from headwater.up.platform import Platform
from headwater.up.services import SelectionError
from headwater.up.settings import PlatformSettings

if TYPE_CHECKING:
    from pathlib import Path

OWN = {"engine": "kafka", "task.shutdown.graceful.timeout.ms": "9000"}


@pytest.fixture
def settings(tmp_path: Path) -> PlatformSettings:
    return PlatformSettings(
        data=tmp_path, free_ports=True, services=("connect", "sql"), properties={"connect": OWN}
    )


def test_it_is_a_process_of_its_own_that_others_are_told_of(settings: PlatformSettings) -> None:
    with Platform(settings) as platform:
        services = {service.name: service for service in platform.services}
        assert list(services) == ["broker", "connect", "spark"]
        connect = services["connect"]
        assert connect.depends_on == ("broker",)
        (place,) = connect.endpoints
        assert place.address == f"http://127.0.0.1:{platform.port('connect')}"
        assert f"sql.ksql.connect.url={place.address}" in services["spark"].command
        command = list(connect.command)
        assert command[command.index("--engine") + 1] == "kafka"
        file = settings.data / "kafka-connect" / "worker.properties"
        assert command[command.index("--config") + 1] == str(file)
        assert "task.shutdown.graceful.timeout.ms=9000" in file.read_text().splitlines()
        assert file.stat().st_mode & 0o077 == 0


def test_a_secured_platform_does_without_it(settings: PlatformSettings, tmp_path: Path) -> None:
    secured = replace(settings, security=SecurityKit(tmp_path / "keys"))
    with pytest.raises(SelectionError, match="engine=kafka"):
        Platform(secured)
