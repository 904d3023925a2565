"""A platform with keys: TLS and passwords on every port, and an identity for every service."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import TYPE_CHECKING

from headwater.processes.ports import EVERYWHERE
from headwater.security.bootstrap import Right
from headwater.security.init import KitPlan, add_service, make_kit
from headwater.security.kit import ADMIN, SecurityKit
from headwater.security.properties_text import broker_settings, plain_users
from headwater.up.services.spark import SPARK, SparkServiceFactory

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from headwater.up.services.factory import ServiceFactory
    from headwater.up.settings import PlatformSettings

FOLDER = "security"
"""Where the keys of a platform are, in its data directory."""
DEMO = "demo"
"""A user who may do everything to topics, groups and transactions whose names begin like that."""

PLAIN_TEXT_SETTINGS = ("headwater.metrics.port", "listener.security.protocol.map")
"""What would make a secured broker listen in plain text."""

_SECRET_BYTES = 32

_DEMO_RIGHTS = (
    *(
        Right(f"User:{DEMO}", "ALL", kind, DEMO, "PREFIXED")
        for kind in ("TOPIC", "GROUP", "TRANSACTIONAL_ID")
    ),
    *(
        Right(f"User:{DEMO}", operation, "CLUSTER", "kafka-cluster")
        for operation in ("DESCRIBE", "IDEMPOTENT_WRITE")
    ),
)


def platform_kit(folder: Path, host: str) -> SecurityKit:
    """Return a platform's keys, and make them if there are none; raises KitError, OSError."""
    kit = SecurityKit(folder.absolute())
    if kit.exists:
        return kit
    hosts = () if host in EVERYWHERE else (host,)
    return make_kit(folder, KitPlan(hosts=hosts, users=(DEMO,), rights=_DEMO_RIGHTS))


def secured(
    settings: PlatformSettings, chosen: Sequence[ServiceFactory | SparkServiceFactory]
) -> PlatformSettings:
    """Return the settings with what makes each service safe, beneath what was given for it."""
    kit = settings.security
    if kit is None:
        return settings
    names = [each.name for each in chosen if each.name != "broker"]
    on_spark = any(isinstance(each, SparkServiceFactory) for each in chosen)
    if on_spark:
        names.append(SPARK)
    identities = [add_service(kit, name) for name in names]
    ours = {
        "broker": {
            **broker_settings(kit, [ADMIN, *names]),
            **(plain_users(identities) if identities else {}),
        },
        **{each.name: _http_settings(kit, each) for each in chosen if each.name != "broker"},
        **({SPARK: _spark_settings()} if on_spark else {}),
    }
    given = settings.properties
    return replace(
        settings,
        properties={
            name: {**ours.get(name, {}), **given.get(name, {})} for name in {**ours, **given}
        },
    )


def _spark_settings() -> dict[str, str]:
    return {
        # It asks nobody for a password, and shows queries, plans and settings.
        "ui.enabled": "false",
        # Else whoever reaches the driver's ports may send it what they like.
        "authenticate": "true",
        "authenticate.secret": secrets.token_urlsafe(_SECRET_BYTES),
    }


def _http_settings(
    kit: SecurityKit, factory: ServiceFactory | SparkServiceFactory
) -> dict[str, str]:
    settings = {
        "ssl.certificate.location": str(kit.service_certificate),
        "ssl.key.location": str(kit.service_key),
        "ssl.ca.location": str(kit.authority),
        "ssl.client.authentication": "REQUESTED",
        "authentication.users.file": str(kit.http_users if factory.is_for_all else kit.http_admins),
    }
    if factory.registry_prefix is not None:
        identity = kit.service(factory.name)
        settings |= {
            f"{factory.registry_prefix}ssl.ca.location": str(kit.authority),
            f"{factory.registry_prefix}basic.auth.user.info": (
                f"{identity.name}:{identity.password_reference}"
            ),
        }
    return settings
