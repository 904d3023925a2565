"""The settings of SASL."""

from __future__ import annotations

from headwater.config import ConfigDef, ConfigType, Importance, UpdateMode, at_least, list_of

SETTINGS = (
    ConfigDef(
        "sasl.enabled.mechanisms",
        ConfigType.LIST,
        ("GSSAPI",),
        "The SASL mechanisms that clients may use, of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512,"
        " OAUTHBEARER and GSSAPI.",
        list_of(may_be_empty=True),
        update=UpdateMode.PER_BROKER,
    ),
    ConfigDef(
        "sasl.jaas.config",
        ConfigType.PASSWORD,
        None,
        "The users of PLAIN and the keytab of GSSAPI in JAAS format, as"
        " listener.name.LISTENER.MECHANISM.sasl.jaas.config.",
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
    ConfigDef(
        "sasl.kerberos.service.name",
        ConfigType.STRING,
        None,
        "The broker's name as a service of Kerberos, the same for all brokers.",
        update=UpdateMode.PER_BROKER,
    ),
    ConfigDef(
        "sasl.kerberos.principal.to.local.rules",
        ConfigType.LIST,
        ("DEFAULT",),
        "How Kerberos principals become names of users; the first rule that fits decides.",
        list_of(may_be_empty=True),
        update=UpdateMode.PER_BROKER,
    ),
    ConfigDef(
        "sasl.oauthbearer.jwks.endpoint.url",
        ConfigType.STRING,
        None,
        "Where the identity provider publishes its keys.",
    ),
    ConfigDef(
        "sasl.oauthbearer.jwks.endpoint.refresh.ms",
        ConfigType.LONG,
        3600000,
        "How often the identity provider's keys are read again.",
        importance=Importance.LOW,
    ),
    ConfigDef(
        "sasl.oauthbearer.expected.issuer",
        ConfigType.STRING,
        None,
        "The issuer that a token must come from.",
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "sasl.oauthbearer.expected.audience",
        ConfigType.LIST,
        (),
        "The audiences that a token must be for.",
        list_of(may_be_empty=True),
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "sasl.oauthbearer.clock.skew.seconds",
        ConfigType.INT,
        30,
        "How far the identity provider's clock may differ from the broker's.",
        importance=Importance.LOW,
    ),
    ConfigDef(
        "sasl.oauthbearer.sub.claim.name",
        ConfigType.STRING,
        "sub",
        "The claim that holds a token's subject.",
        importance=Importance.LOW,
    ),
    ConfigDef(
        "sasl.oauthbearer.scope.claim.name",
        ConfigType.STRING,
        "scope",
        "The claim that holds a token's scope.",
        importance=Importance.LOW,
    ),
)
