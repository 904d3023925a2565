"""The settings of listeners, sockets and connections."""

from __future__ import annotations

from headwater.config import (
    INT_MAX,
    ConfigDef,
    ConfigType,
    Importance,
    UpdateMode,
    at_least,
    list_of,
)

SETTINGS = (
    ConfigDef(
        "listeners",
        ConfigType.LIST,
        ("PLAINTEXT://localhost:9092",),
        "Where the broker listens, as NAME://host:port; an empty host means every interface.",
        list_of(may_be_empty=False),
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "advertised.listeners",
        ConfigType.LIST,
        None,
        "What clients are told to connect to, where that differs from listeners.",
        list_of(may_be_empty=False),
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "listener.security.protocol.map",
        ConfigType.STRING,
        "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT",
        "Which security protocol each listener name speaks.",
        importance=Importance.LOW,
    ),
    ConfigDef(
        "controller.listener.names",
        ConfigType.LIST,
        ("CONTROLLER",),
        "The names of the listeners that belong to a controller; this broker does not serve them.",
        list_of(may_be_empty=False),
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "socket.send.buffer.bytes",
        ConfigType.INT,
        102_400,
        "The send buffer of a connection's socket; -1 leaves it to the operating system.",
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "socket.receive.buffer.bytes",
        ConfigType.INT,
        102_400,
        "The receive buffer of a connection's socket; -1 leaves it to the operating system.",
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "socket.request.max.bytes",
        ConfigType.INT,
        104_857_600,
        "The largest request that is taken; a larger one closes its connection.",
        at_least(1),
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "socket.listen.backlog.size",
        ConfigType.INT,
        50,
        "How many connections may wait to be accepted.",
        at_least(1),
    ),
    ConfigDef(
        "max.connections",
        ConfigType.INT,
        INT_MAX,
        "How many connections are open at most.",
        at_least(0),
        UpdateMode.CLUSTER_WIDE,
    ),
    ConfigDef(
        "max.connections.per.ip",
        ConfigType.INT,
        INT_MAX,
        "How many connections one address may have open.",
        at_least(0),
        UpdateMode.CLUSTER_WIDE,
    ),
    ConfigDef(
        "max.connections.per.ip.overrides",
        ConfigType.STRING,
        "",
        "Limits for single addresses, as address:limit pairs, in place of max.connections.per.ip.",
        update=UpdateMode.CLUSTER_WIDE,
    ),
    ConfigDef(
        "connections.max.idle.ms",
        ConfigType.LONG,
        600_000,
        "How long a connection may be silent before it is closed.",
    ),
)
