"""The settings of SASL OAUTHBEARER."""

from __future__ import annotations

from headwater.log.config_def import (
    ConfigDef,
    ConfigType,
    between,
    list_of,
    one_of_any_case,
    without_effect,
)

SETTINGS = without_effect(
    ConfigDef(
        "sasl.oauthbearer.jwt.retriever.class",
        ConfigType.CLASS,
        "org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever",
        "The Java class that obtains tokens.",
    ),
    ConfigDef(
        "sasl.oauthbearer.jwt.validator.class",
        ConfigType.CLASS,
        "org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator",
        "The Java class that checks tokens.",
    ),
    ConfigDef(
        "sasl.oauthbearer.scope",
        ConfigType.STRING,
        None,
        "The scope that is asked for with a token.",
    ),
    ConfigDef(
        "sasl.oauthbearer.client.credentials.client.id",
        ConfigType.STRING,
        None,
        "The client id for the client-credentials grant.",
    ),
    ConfigDef(
        "sasl.oauthbearer.client.credentials.client.secret",
        ConfigType.PASSWORD,
        None,
        "The client secret for the client-credentials grant.",
    ),
    ConfigDef(
        "sasl.oauthbearer.assertion.algorithm",
        ConfigType.STRING,
        "RS256",
        "The algorithm that signs an assertion.",
        one_of_any_case("ES256", "RS256"),
    ),
    ConfigDef(
        "sasl.oauthbearer.assertion.claim.aud",
        ConfigType.STRING,
        None,
        "The audience claim of an assertion.",
    ),
    ConfigDef(
        "sasl.oauthbearer.assertion.claim.exp.seconds",
        ConfigType.INT,
        300,
        "How long an assertion is valid.",
        between(0, 86_400),
    ),
    ConfigDef(
        "sasl.oauthbearer.assertion.claim.iss",
        ConfigType.STRING,
        None,
        "The issuer claim of an assertion.",
    ),
    ConfigDef(
        "sasl.oauthbearer.assertion.claim.jti.include",
        ConfigType.BOOLEAN,
        False,
        "Whether an assertion carries an id of its own.",
    ),
    ConfigDef(
        "sasl.oauthbearer.assertion.claim.nbf.seconds",
        ConfigType.INT,
        60,
        "How far back an assertion starts to be valid.",
        between(0, 3_600),
    ),
    ConfigDef(
        "sasl.oauthbearer.assertion.claim.sub",
        ConfigType.STRING,
        None,
        "The subject claim of an assertion.",
    ),
    ConfigDef(
        "sasl.oauthbearer.assertion.file",
        ConfigType.STRING,
        None,
        "The file with a ready-made assertion.",
    ),
    ConfigDef(
        "sasl.oauthbearer.assertion.private.key.file",
        ConfigType.STRING,
        None,
        "The file with the private key that signs an assertion.",
    ),
    ConfigDef(
        "sasl.oauthbearer.assertion.private.key.passphrase",
        ConfigType.PASSWORD,
        None,
        "The passphrase of the private key that signs an assertion.",
    ),
    ConfigDef(
        "sasl.oauthbearer.assertion.template.file",
        ConfigType.STRING,
        None,
        "The file with header and claims that go into an assertion.",
    ),
    ConfigDef(
        "sasl.oauthbearer.scope.claim.name",
        ConfigType.STRING,
        "scope",
        "The claim that holds a token's scope.",
    ),
    ConfigDef(
        "sasl.oauthbearer.sub.claim.name",
        ConfigType.STRING,
        "sub",
        "The claim that holds a token's subject.",
    ),
    ConfigDef(
        "sasl.oauthbearer.token.endpoint.url",
        ConfigType.STRING,
        None,
        "Where the identity provider hands out tokens.",
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
        3_600_000,
        "How often the identity provider's keys are read again.",
    ),
    ConfigDef(
        "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms",
        ConfigType.LONG,
        100,
        "The first wait between attempts to read the identity provider's keys.",
    ),
    ConfigDef(
        "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms",
        ConfigType.LONG,
        10_000,
        "The longest wait between attempts to read the identity provider's keys.",
    ),
    ConfigDef(
        "sasl.oauthbearer.clock.skew.seconds",
        ConfigType.INT,
        30,
        "How far the identity provider's clock may differ from the broker's.",
    ),
    ConfigDef(
        "sasl.oauthbearer.expected.audience",
        ConfigType.LIST,
        (),
        "The audiences that a token must be for.",
        list_of(may_be_empty=True),
    ),
    ConfigDef(
        "sasl.oauthbearer.expected.issuer",
        ConfigType.STRING,
        None,
        "The issuer that a token must come from.",
    ),
)
