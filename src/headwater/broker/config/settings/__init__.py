"""Every setting of the broker under Kafka's names.

Those that do something here stand in a module per family; the others, which are taken so that a
file made for Apache Kafka works as it is, in `without_effect.json`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from headwater.broker.config.settings import (
    acls,
    audit,
    cleaner,
    delegation_tokens,
    groups,
    listeners,
    log,
    own,
    sasl,
    server,
    share_groups,
    tls,
    transactions,
)
from headwater.config import Definitions

if TYPE_CHECKING:
    from headwater.config import ConfigDef

_FAMILIES = (
    server, listeners, tls, sasl, delegation_tokens, acls, audit, log, cleaner, groups,
    share_groups, transactions, own,
)  # fmt: skip


def _without_effect() -> list[ConfigDef]:
    # Only when asked for: most brokers never are, and 250 definitions take time and memory.
    from headwater.config.without_effect import read_without_effect

    return read_without_effect(Path(__file__).with_name("without_effect.json"))


BROKER_SETTINGS = Definitions(
    "broker",
    *(setting for family in _FAMILIES for setting in family.SETTINGS),
    rest=_without_effect,
)
