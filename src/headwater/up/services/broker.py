"""The broker: ours, or as many nodes of Apache Kafka as are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.config.sources import variable_of
from headwater.processes.ports import reachable
from headwater.up.health import KafkaCheck
from headwater.up.listener import listener
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
    has_keys = settings.security is not None
    where = () if has_keys else ("--host", settings.host, "--port", str(port))
    listening = {variable_of("broker", "listeners"): listener(settings.host, port)}
    check = KafkaCheck(host, port, tls=has_keys)
    description = "Kafka protocol, SASL_SSL" if has_keys else "Kafka protocol"
    return Service(
        name="broker",
        command=(
            *(*HEADWATER, "broker", *where),
            *("--data", str(settings.data / "broker")),
        ),
        environment={**platform.environment("broker"), **(listening if has_keys else {})},
        endpoints=[Endpoint("broker", join(host, port), description, check)],
    )


BROKER = ServiceFactory("broker", _make)
