"""Connect by Apache Kafka's own worker, where the settings ask for that engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cluster.server_properties import as_text
from headwater.security.owner_files import replace_for_owner
from headwater.up.service import Service
from headwater.up.services.factory import HEADWATER, ServiceFactory
from headwater.up.services.http_service import http_endpoint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.up.platform import Platform

NAME = "connect"

# Tasks commit what they have done, and a JVM takes its time.
_STOP_WITHIN_S = 60.0


def _make(platform: Platform) -> Sequence[Service]:
    settings = platform.settings
    folder = settings.data / "kafka-connect"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    # In a file, and not as variables: there is none for a setting that only Kafka knows. For its
    # owner alone, even where the folder was there before.
    file = folder / "worker.properties"
    replace_for_owner(file, as_text(settings.properties.get(NAME, {})))
    port = platform.port(NAME)
    return [
        Service(
            name=NAME,
            command=(
                *(*HEADWATER, "connect", "worker", "--engine", "kafka", "--config", str(file)),
                *("--host", settings.host, "--port", str(port)),
                *platform.cluster_options(NAME),
            ),
            endpoints=[http_endpoint(platform, NAME, "Connect, Apache Kafka", port)],
            depends_on=platform.brokers,
            environment={"HEADWATER_INSECURE": "true"} if settings.insecure else {},
            stop_within_s=_STOP_WITHIN_S,
        )
    ]


KAFKA_CONNECT = ServiceFactory(NAME, _make, needs=("broker",), is_usual=False)
