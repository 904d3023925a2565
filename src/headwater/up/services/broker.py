"""The broker: ours, or as many nodes of Apache Kafka as are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.processes.ports import reachable
from headwater.up.health import KafkaCheck
from headwater.up.service import Endpoint, Service
from headwater.up.services.factory import HEADWATER, ServiceFactory, join

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.up.platform import Platform


def _make(platform: Platform) -> Sequence[Service]:
    if platform.settings.engine == "kafka":
        # Only where it is asked for: what runs a JVM is slow to import.
        from headwater.up.services import kafka

        return kafka.make(platform)
    return [_embedded(platform)]


def _embedded(platform: Platform) -> Service:
    settings = platform.settings
    port = platform.port("broker")
    host = reachable(settings.host)
    return Service(
        name="broker",
        command=(
            *(*HEADWATER, "broker", "--host", settings.host, "--port", str(port)),
            *("--data", str(settings.data / "broker")),
            *platform.properties("broker"),
        ),
        environment=platform.environment("broker"),
        endpoints=[Endpoint("broker", join(host, port), "Kafka protocol", KafkaCheck(host, port))],
    )


BROKER = ServiceFactory("broker", _make)
