"""Every setting of the broker, one module per family, under Kafka's names and defaults."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headwater.broker.config.settings import (
    cleaner,
    controller,
    groups,
    listeners,
    log,
    oauth,
    own,
    remote,
    replication,
    sasl,
    server,
    share_groups,
    ssl,
    streams_groups,
    transactions,
)
from headwater.broker.config.settings.deviations import OUR_DEFAULTS, OUR_UPDATE_MODES

if TYPE_CHECKING:
    from headwater.log.config_def import ConfigDef

_FAMILIES = (
    server, listeners, log, cleaner, groups, share_groups, streams_groups, transactions,
    replication, controller, remote, ssl, sasl, oauth, own,
)  # fmt: skip

BROKER_SETTINGS: dict[str, ConfigDef] = {
    setting.name: setting for family in _FAMILIES for setting in family.SETTINGS
}
for _name, _ours in OUR_DEFAULTS.items():
    BROKER_SETTINGS[_name] = replace(BROKER_SETTINGS[_name], default=_ours.value)
for _name, _mode in OUR_UPDATE_MODES.items():
    BROKER_SETTINGS[_name] = replace(BROKER_SETTINGS[_name], update=_mode.value)
