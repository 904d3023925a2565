"""Runs a platform of a broker and two services that need Spark; tests start it as a process."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from headwater.up.log_lines import LogLines
from headwater.up.platform import Platform
from headwater.up.services.broker import BROKER
from headwater.up.services.spark import SparkServiceFactory
from headwater.up.settings import PlatformSettings
from headwater.up.supervisor import Supervisor

SPARK_SERVICES = [
    SparkServiceFactory(name, f"tests.integration.copy_service:{name.upper()}", "Copies topics")
    for name in ("copier", "mirror")
]


def main(directory: Path) -> int:
    settings = PlatformSettings(
        data=directory / "data",
        free_ports=True,
        services=("copier", "mirror"),
        properties={
            "copier": {"directory": str(directory)},
            "mirror": {"directory": str(directory), "suffix": "-mirrored"},
            "spark": {"ui.enabled": "false"},
        },
    )

    async def run(platform: Platform) -> int:
        log = LogLines([each.name for each in platform.services], sys.stdout, colours=False)

        def show() -> None:
            for service in platform.services:
                for place in service.endpoints:
                    log.say(f"{service.name} has {place.name} at {place.address}")

        return await Supervisor(platform.services, log, on_ready=show).run()

    with Platform(settings, (BROKER, *SPARK_SERVICES)) as platform:
        return asyncio.run(run(platform))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
