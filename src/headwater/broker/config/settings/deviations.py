"""Where a setting is not as Kafka has it, and why."""

from __future__ import annotations

from typing import NamedTuple

from headwater.log.config_def import UpdateMode, Value


class OurDefault(NamedTuple):
    """A default that is not Kafka's."""

    value: Value
    reason: str


class OurUpdateMode(NamedTuple):
    """An update mode that is not Kafka's."""

    value: UpdateMode
    reason: str


OUR_DEFAULTS: dict[str, OurDefault] = {
    "broker.id": OurDefault(1, "It is the old name of node.id, and so has the same default."),
    "controller.listener.names": OurDefault(
        ("CONTROLLER",),
        "Kafka has no default and refuses to start without it; this is the name in its samples.",
    ),
    "group.initial.rebalance.delay.ms": OurDefault(
        0, "Kafka waits 3 s for more members, which on one machine only makes every start slow."
    ),
    "listeners": OurDefault(
        ("PLAINTEXT://localhost:9092",),
        "Kafka listens on every interface; a broker without passwords should not by default.",
    ),
    "log.dir": OurDefault(
        ("~/.headwater/data",),
        "Kafka's is below /tmp, which the next restart of the machine may empty.",
    ),
    "node.id": OurDefault(
        1, "Kafka has no default and refuses to start without it; a single node needs no choice."
    ),
    "process.roles": OurDefault(
        ("broker", "controller"),
        "Kafka has no default and refuses to start without it; a single node is always both.",
    ),
}

OUR_UPDATE_MODES: dict[str, OurUpdateMode] = {
    name: OurUpdateMode(
        UpdateMode.READ_ONLY, "Sockets are opened at start-up only; restart to listen elsewhere."
    )
    for name in ("listeners", "listener.security.protocol.map")
}
