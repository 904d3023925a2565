"""The settings of SASL."""

from __future__ import annotations

from headwater.config import ConfigDef, ConfigType, Importance, UpdateMode, at_least, list_of

SETTINGS = (
    ConfigDef(
        "sasl.enabled.mechanisms",
        ConfigType.LIST,
        ("GSSAPI",),
        "The SASL mechanisms that clients may use, of PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512.",
        list_of(may_be_empty=True),
        update=UpdateMode.PER_BROKER,
    ),
    ConfigDef(
        "sasl.jaas.config",
        ConfigType.PASSWORD,
        None,
        "The users of PLAIN in JAAS format, as listener.name.LISTENER.plain.sasl.jaas.config.",
        update=UpdateMode.PER_BROKER,
    ),
    ConfigDef(
        "sasl.server.max.receive.size",
        ConfigType.INT,
        524_288,
        "The largest SASL message that is taken before a client has authenticated.",
    ),
    ConfigDef(
        "connections.max.reauth.ms",
        ConfigType.LONG,
        0,
        "How long an authenticated session lasts before the client has to authenticate again; 0 is"
        " for ever.",
    ),
    ConfigDef(
        "connection.failed.authentication.delay.ms",
        ConfigType.INT,
        100,
        "How long the broker waits before it closes a connection that failed to authenticate.",
        at_least(0),
        importance=Importance.LOW,
    ),
)
