"""Where a setting is not as Kafka has it, and why."""

from __future__ import annotations

OUR_DEFAULTS = {
    "broker.id": "It is the old name of node.id, and so has the same default.",
    "controller.listener.names": (
        "Kafka has no default and refuses to start without it; this is the name in its samples."
    ),
    "group.initial.rebalance.delay.ms": (
        "Kafka waits 3 s for more members, which on one machine only makes every start slow."
    ),
    "listeners": (
        "Kafka listens on every interface; a broker without passwords should not by default."
    ),
    "log.dir": "Kafka's is below /tmp, which the next restart of the machine may empty.",
    "node.id": (
        "Kafka has no default and refuses to start without it; a single node needs no choice."
    ),
    "process.roles": (
        "Kafka has no default and refuses to start without it; a single node is always both."
    ),
}
"""The settings with a default that is not Kafka's."""

OUR_UPDATE_MODES = dict.fromkeys(
    ("listeners", "listener.security.protocol.map"),
    "Sockets are opened at start-up only; restart to listen elsewhere.",
)
"""The settings that Kafka changes at run time and we do not."""
