"""Services that need Spark: guests of one process, each with its own name and port."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.processes.ports import reachable
from headwater.up.health import HttpCheck
from headwater.up.service import Endpoint, Service
from headwater.up.services.factory import HEADWATER, join

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
class GuestFactory:
    """A service of the platform that shares a process with all others that need Spark.

    `target` is where its guest is, as in `headwater.sql.guest:SQL`; nothing of it is loaded here.
    """

    name: str
    target: str
    description: str
    needs: tuple[str, ...] = ("broker",)
    """Services without which it is of no use: they are run as well, and started first."""
    is_usual: bool = False
    """Whether it is run when nobody says which services to run."""


def spark_process(platform: Platform, guests: Sequence[GuestFactory]) -> Service:
    """Return the process of these guests, with an endpoint for each; made after what they need."""
    host = reachable(platform.settings.host)
    ports = {guest.name: platform.port(guest.name) for guest in guests}
    needs = {needed for guest in guests for needed in guest.needs}
    others = [each.name for each in platform.services if each.name in needs]
    return Service(
        name=SPARK,
        command=(
            *(*HEADWATER, "guests", "--host", platform.settings.host),
            *platform.cluster_options(),
            *(
                part
                for guest in guests
                for part in ("--guest", guest.target, str(ports[guest.name]))
            ),
            *(
                part
                for guest in guests
                for part in platform.properties(guest.name, prefix=f"{guest.name}.")
            ),
        ),
        environment={
            **{
                variable: value
                for guest in guests
                for variable, value in platform.environment(guest.name).items()
            },
            # By one variable: Spark's names are of both cases, and some of its settings secrets.
            SPARK_VARIABLE: json.dumps(dict(platform.settings.properties.get(SPARK, {}))),
        },
        endpoints=[
            Endpoint(
                guest.name,
                f"http://{join(host, ports[guest.name])}",
                guest.description,
                HttpCheck(host, ports[guest.name]),
            )
            for guest in guests
        ],
        depends_on=tuple(dict.fromkeys([*platform.brokers, *others])),
        stop_within_s=_STOP_WITHIN_S,
    )
