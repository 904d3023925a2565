"""Services that need Spark: they share one process, each with its own name and port."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.up.service import Endpoint, Service
from headwater.up.services.factory import HEADWATER
from headwater.up.services.http_service import http_endpoint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.up.platform import Platform

SPARK = "spark"
"""The name of the process, and of Spark's own settings in headwater.toml."""

SPARK_VARIABLE = "HEADWATER_SPARK"
"""The environment variable that hands these to the process, as JSON."""

# Jobs end the batch that they are in, and a JVM takes its time.
_STOP_WITHIN_S = 60.0


@dataclass(frozen=True)
class SparkServiceFactory:
    """A service of the platform that shares a process with all others that need Spark.

    `target` is where it is, as in `headwater.sql.service:SQL`; nothing of it is loaded here.
    """

    name: str
    target: str
    description: str
    needs: tuple[str, ...] = ("broker",)
    """Services without which it is of no use: they are run as well, and started first."""
    is_usual: bool = False
    """Whether it is run when nobody says which services to run."""
    is_for_all: bool = False
    """Whether all users of a secured platform are let in, and not its admin alone: what lets them
    do with its own rights what they may not do with theirs must not be."""
    registry_prefix: str | None = None
    """What its settings of a registry's client begin with, if it has such."""
    registry_setting: str | None = None
    """The setting that says where the registry is: by default the platform's, if it has one."""
    connect_setting: str | None = None
    """The setting that says where Connect is: by default the platform's, if it has it."""
    directory_setting: str | None = None
    """The setting of the service's directory: by default one in the platform's own."""


def spark_process(platform: Platform, services: Sequence[SparkServiceFactory]) -> Service:
    """Return the process of these, with an endpoint for each; made after what they need."""
    ports = {each.name: platform.port(each.name) for each in services}
    endpoints = [
        http_endpoint(platform, each.name, each.description, ports[each.name]) for each in services
    ]
    needs = {needed for each in services for needed in each.needs}
    others = [other.name for other in platform.services if other.name in needs]
    return Service(
        name=SPARK,
        command=(
            *(*HEADWATER, "spark-services", "--host", platform.settings.host),
            *platform.cluster_options(SPARK),
            *(
                part
                for each in services
                for part in ("--service", each.target, str(ports[each.name]))
            ),
            *(part for each in services for part in _own_settings(platform, each, endpoints)),
        ),
        environment={
            **{
                variable: value
                for each in services
                for variable, value in platform.environment(each.name).items()
            },
            # By one variable: Spark's names are of both cases, and some of its settings secrets.
            SPARK_VARIABLE: json.dumps(dict(platform.settings.properties.get(SPARK, {}))),
        },
        endpoints=endpoints,
        depends_on=tuple(dict.fromkeys([*platform.brokers, *others])),
        stop_within_s=_STOP_WITHIN_S,
    )


def _own_settings(
    platform: Platform, service: SparkServiceFactory, beside: Sequence[Endpoint]
) -> list[str]:
    """Return what the platform says of itself to a service, unless its settings say otherwise."""
    given = platform.settings.properties.get(service.name, {})
    registries = [each for each in platform.services if each.name == "registry"]
    urls = [place.address for each in registries for place in each.endpoints]
    own = {}
    if service.registry_setting is not None and urls:
        own[service.registry_setting] = ",".join(urls)
    places = [*beside, *(place for each in platform.services for place in each.endpoints)]
    connects = [place.address for place in places if place.name == "connect"]
    if service.connect_setting is not None and connects:
        own[service.connect_setting] = connects[0]
    if service.directory_setting is not None:
        own[service.directory_setting] = str(platform.settings.data / service.name)
    return [
        part
        for name, value in own.items()
        if name not in given
        for part in ("--property", f"{service.name}.{name}={value}")
    ]
