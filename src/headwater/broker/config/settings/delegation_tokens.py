"""The settings of delegation tokens."""

from __future__ import annotations

from headwater.config import ConfigDef, ConfigType, Importance, at_least

SETTINGS = (
    ConfigDef(
        "delegation.token.secret.key",
        ConfigType.PASSWORD,
        None,
        "The secret with which delegation tokens are made; without it there are none.",
    ),
    ConfigDef(
        "delegation.token.max.lifetime.ms",
        ConfigType.LONG,
        604_800_000,
        "How long a delegation token may live, renewals included.",
        at_least(1),
    ),
    ConfigDef(
        "delegation.token.expiry.time.ms",
        ConfigType.LONG,
        86_400_000,
        "How long a delegation token lives before it must be renewed.",
        at_least(1),
    ),
    ConfigDef(
        "delegation.token.expiry.check.interval.ms",
        ConfigType.LONG,
        3_600_000,
        "How often expired delegation tokens are cleared away.",
        at_least(1),
        importance=Importance.LOW,
    ),
)
