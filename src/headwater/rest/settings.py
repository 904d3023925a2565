"""The REST proxy's settings, under Confluent's names where there are such."""

from __future__ import annotations

from headwater.config import (
    ConfigDef,
    ConfigType,
    Definitions,
    Importance,
    at_least,
    between,
    list_of,
    one_of_any_case,
)
from headwater.http.listener_settings import listener_definitions

DEFAULT_PORT = 8082
MOST_FETCH_MIN_BYTES = 10_000_000

# Settings of clients: of all of them, or of one kind.
CLIENT_PREFIX = "client."
PRODUCER_PREFIX = "producer."
CONSUMER_PREFIX = "consumer."
REGISTRY_PREFIX = "schema.registry."

REST_SETTINGS = Definitions(
    "rest",
    *listener_definitions(DEFAULT_PORT),
    ConfigDef(
        "bootstrap.servers",
        ConfigType.LIST,
        ("localhost:9092",),
        "The cluster that the proxy speaks for. What else starts with client., producer. or"
        " consumer. is a setting of its Kafka clients, client.security.protocol for example.",
        list_of(may_be_empty=False),
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "schema.registry.url",
        ConfigType.LIST,
        ("http://localhost:8081",),
        "The registry for Avro, JSON Schema and Protobuf. What else starts with schema.registry. is"
        " a setting of its client, schema.registry.basic.auth.user.info for example.",
        list_of(may_be_empty=False),
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "id",
        ConfigType.STRING,
        "",
        "A name of this instance, which the names of its consumers contain.",
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "advertised.listeners",
        ConfigType.LIST,
        (),
        "What links in answers start with, as http://HOST:PORT; without it, with the name by which"
        " a client has called.",
    ),
    ConfigDef(
        "consumer.request.timeout.ms",
        ConfigType.INT,
        1000,
        "How long a request for records waits for more of them.",
        at_least(1),
    ),
    ConfigDef(
        "consumer.request.max.bytes",
        ConfigType.LONG,
        64 * 1024 * 1024,
        "How many bytes of keys and values one request for records can return.",
        at_least(1),
    ),
    ConfigDef(
        "consumer.instance.timeout.ms",
        ConfigType.INT,
        300_000,
        "A consumer instance that was left alone for so long is deleted.",
        at_least(1),
    ),
    ConfigDef(
        "consumer.threads",
        ConfigType.INT,
        50,
        "How many requests of consumer instances can wait for the cluster at a time.",
        at_least(1),
    ),
    ConfigDef(
        "fetch.min.bytes",
        ConfigType.INT,
        -1,
        "A request for records is answered once there are more bytes than this; with -1, it waits"
        " its whole time for more.",
        between(-1, MOST_FETCH_MIN_BYTES),
    ),
    ConfigDef("api.v2.enable", ConfigType.BOOLEAN, True, "Whether version 2 is served."),
    ConfigDef("api.v3.enable", ConfigType.BOOLEAN, True, "Whether version 3 is served."),
    ConfigDef(
        "api.v3.produce.batch.maximum.entries",
        ConfigType.INT,
        10,
        "How many records a batch of version 3 can have.",
        between(1, 1000),
    ),
    ConfigDef(
        "client.timeout.ms",
        ConfigType.INT,
        10_000,
        "How long the cluster may take for an answer about topics, groups and settings.",
        at_least(1),
    ),
    ConfigDef(
        "confluent.rest.auth.propagate.method",
        ConfigType.STRING,
        "",
        "SASL: the proxy acts on the cluster as who has called it, and logs in there with the name"
        " and password of the request, by client.sasl.mechanism, or with its bearer token, by"
        " OAUTHBEARER. Without it, it acts as itself for everybody.",
        one_of_any_case("", "SASL"),
    ),
    ConfigDef(
        "max.request.bytes",
        ConfigType.INT,
        16 * 1024 * 1024,
        "How large a request may be; larger ones are refused with 413.",
        at_least(1),
    ),
    open_prefixes=(CLIENT_PREFIX, PRODUCER_PREFIX, CONSUMER_PREFIX, REGISTRY_PREFIX),
)
