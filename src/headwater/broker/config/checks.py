"""Refuses settings that are well-formed one by one and make no sense together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.broker.config.names import LISTENER_PREFIX
from headwater.config import ConfigError

if TYPE_CHECKING:
    from headwater.broker.config.broker_config import BrokerConfig

_MIB = 1 << 20
_THREAD_POOLS = (
    "log.cleaner.threads", "num.io.threads", "num.network.threads",
    "num.recovery.threads.per.data.dir", "num.replica.fetchers",
)  # fmt: skip


def check(config: BrokerConfig) -> None:
    """Raise ConfigError for the first thing that is wrong."""
    _require(config, "node.id", config.node_id >= 0, "it must not be negative")
    for name in ("log.roll.ms", "log.roll.jitter.ms", "log.retention.ms", "log.retention.minutes",
                 "log.retention.hours"):  # fmt: skip
        value = config.value(name)
        lowest = 0 if "jitter" in name else 1
        is_right = value is None or (isinstance(value, int) and value >= lowest)
        if name.startswith("log.retention") and isinstance(value, int) and value < 0:
            is_right = True
        _require(config, name, is_right, f"it must be at least {lowest}, or -1 for no limit")
    # Settings without effect are looked at where they are given only, so as not to read them all.
    given = config.given_names()
    threads = config.integer("log.cleaner.threads") if "log.cleaner.threads" in given else 1
    _require(
        config,
        "log.cleaner.dedupe.buffer.size",
        config.integer("log.cleaner.dedupe.buffer.size") // max(1, threads) > _MIB,
        "each cleaner thread needs more than one MiB",
    )
    _require(
        config,
        "max.connections.per.ip",
        config.integer("max.connections.per.ip") > 0
        or bool(config.text("max.connections.per.ip.overrides")),
        "nobody could connect; set max.connections.per.ip.overrides as well",
    )
    if "queued.max.request.bytes" in given:
        queued = config.integer("queued.max.request.bytes")
        _require(
            config,
            "queued.max.request.bytes",
            queued <= 0 or queued >= config.integer("socket.request.max.bytes"),
            "it must not be smaller than socket.request.max.bytes",
        )
    known = {endpoint.name.lower() for endpoint in config.listeners + config.controller_listeners}
    for name in given:
        if name.startswith(LISTENER_PREFIX):
            listener = name.removeprefix(LISTENER_PREFIX).partition(".")[0]
            _require(config, name, listener in known, f"there is no listener {listener}")
    if "inter.broker.listener.name" in given:
        _require(
            config,
            "inter.broker.listener.name",
            (config.text("inter.broker.listener.name") or "").lower()
            in {endpoint.name.lower() for endpoint in config.listeners},
            f"it must be one of the listeners, {', '.join(e.name for e in config.listeners)}",
        )
    directories = config.words("log.dirs") or config.words("log.dir")
    _require(
        config, "log.dirs", len(directories) == 1, "all data is kept in one directory; name one"
    )
    config.log_defaults()


def check_thread_counts(before: BrokerConfig, after: BrokerConfig) -> None:
    """Raise ConfigError if a pool of threads would change too much at once, as Kafka has it."""
    for name in _THREAD_POOLS:
        now, then = before.integer(name), after.integer(name)
        if then != now:
            is_right = then >= 1 and now <= 2 * then and then <= 2 * now
            _require(after, name, is_right, f"it may go from {now} to half or double of that")


def _require(config: BrokerConfig, name: str, is_right: bool, otherwise: str) -> None:
    if not is_right:
        raise ConfigError(name, config.value(name), otherwise)
