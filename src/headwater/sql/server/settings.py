"""The SQL server's settings, under ksqlDB's names where there are such."""

from __future__ import annotations

from headwater.config import (
    ConfigDef,
    ConfigType,
    Definitions,
    Importance,
    at_least,
    list_of,
    one_of,
)
from headwater.http.listener_settings import listener_definitions
from headwater.http.rights import rights_definition

DEFAULT_PORT = 8088

SQL_SETTINGS = Definitions(
    "sql",
    *listener_definitions(DEFAULT_PORT),
    rights_definition(),
    ConfigDef(
        "bootstrap.servers",
        ConfigType.LIST,
        ("localhost:9092",),
        "The cluster whose topics statements are about; --bootstrap-server comes before it, and"
        " `headwater up` names its own.",
        list_of(may_be_empty=False),
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "ksql.service.id",
        ConfigType.STRING,
        "default_",
        "Servers with the same id share streams, tables and queries: one of them runs the queries,"
        " and another takes over when it dies. It is in the names of internal topics.",
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "ksql.schema.registry.url",
        ConfigType.LIST,
        (),
        "The registry for AVRO, JSON_SR and PROTOBUF.",
        list_of(may_be_empty=True),
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "ksql.schema.registry.basic.auth.user.info",
        ConfigType.PASSWORD,
        None,
        "The registry's user and password, as USER:PASSWORD.",
    ),
    ConfigDef(
        "ksql.schema.registry.ssl.ca.location",
        ConfigType.STRING,
        None,
        "Whom to trust as the registry, where it is asked by https.",
    ),
    ConfigDef(
        "ksql.connect.url",
        ConfigType.STRING,
        "http://localhost:8083",
        "A Connect worker, for statements about connectors; `headwater up` names its own.",
    ),
    ConfigDef(
        "ksql.streams.state.dir",
        ConfigType.STRING,
        None,
        "Where queries keep their checkpoints and pull queries their stores; by default"
        " ~/.headwater/sql. Servers that share a service id have to share it, on one machine or"
        " on a file system that all of them see.",
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "ksql.streams.auto.offset.reset",
        ConfigType.STRING,
        "latest",
        "Where queries begin to read streams, unless a session says otherwise.",
        one_of("earliest", "latest"),
    ),
    ConfigDef(
        "ksql.streams.processing.guarantee",
        ConfigType.STRING,
        "at_least_once",
        "How often a record counts when a query was started again, unless a session says"
        " otherwise.",
        one_of("at_least_once", "exactly_once", "exactly_once_v2"),
    ),
    ConfigDef(
        "ksql.queries.file",
        ConfigType.STRING,
        None,
        "A file of statements to run when the server starts; no others are then taken.",
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "ksql.internal.topic.replicas",
        ConfigType.INT,
        1,
        "How many brokers keep the command topic and the results of push queries.",
        at_least(1),
    ),
    ConfigDef(
        "ksql.max.push.queries",
        ConfigType.INT,
        100,
        "How many push queries can run at a time.",
        at_least(1),
    ),
    ConfigDef(
        "ksql.query.pull.max.rows",
        ConfigType.INT,
        1_000_000,
        "How many rows a pull query may look at.",
        at_least(1),
    ),
    ConfigDef(
        "ksql.logging.processing.topic.name",
        ConfigType.STRING,
        None,
        "The topic of the processing log, which tells of records that could not be decoded; by"
        " default `<ksql.service.id>ksql_processing_log`.",
    ),
    ConfigDef(
        "ksql.logging.processing.topic.auto.create",
        ConfigType.BOOLEAN,
        True,
        "Whether the server makes the processing log's topic when it starts.",
    ),
    ConfigDef(
        "ksql.logging.processing.topic.partitions",
        ConfigType.INT,
        1,
        "How many partitions the processing log's topic is made with.",
        at_least(1),
    ),
    ConfigDef(
        "ksql.logging.processing.topic.replication.factor",
        ConfigType.INT,
        1,
        "How many brokers keep the processing log's topic.",
        at_least(1),
    ),
    ConfigDef(
        "ksql.logging.processing.stream.auto.create",
        ConfigType.BOOLEAN,
        False,
        "Whether a new service makes a stream of the processing log.",
    ),
    ConfigDef(
        "ksql.logging.processing.stream.name",
        ConfigType.STRING,
        "KSQL_PROCESSING_LOG",
        "The name of that stream.",
    ),
    ConfigDef(
        "ksql.logging.processing.rows.include",
        ConfigType.BOOLEAN,
        False,
        "Whether the processing log has the bytes that could not be decoded, in base64.",
    ),
    ConfigDef(
        "ksql.advertised.listener",
        ConfigType.STRING,
        None,
        "Where other servers reach this one, as http://HOST:PORT; by default where it listens.",
    ),
)
