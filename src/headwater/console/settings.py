"""The console's settings."""

from __future__ import annotations

from headwater.config import (
    NOT_EMPTY,
    ConfigDef,
    ConfigType,
    Definitions,
    Importance,
    between,
    list_of,
)
from headwater.http.listener_settings import listener_definitions

DEFAULT_PORT = 9021
CLIENT_PREFIX = "client."
REGISTRY_PREFIX = "schema.registry."
SERVICE_PREFIXES = ("connect.", "ksql.", "monitor.", "platform.")
CLUSTERS_PREFIX = "clusters."
_OPEN = (CLIENT_PREFIX, REGISTRY_PREFIX, *SERVICE_PREFIXES)

_OF_EACH_CLUSTER = (
    ConfigDef(
        "bootstrap.servers",
        ConfigType.LIST,
        ("localhost:9092",),
        "The cluster to show; what starts with client. is a setting of the Kafka client,"
        " client.security.protocol for example. Further clusters are"
        " clusters.NAME.bootstrap.servers and, with the same prefix, all of these settings that are"
        " about a cluster.",
        list_of(may_be_empty=False),
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "schema.registry.url",
        ConfigType.LIST,
        (),
        "The schema registry; without one there is no page of schemas. What else starts with"
        " schema.registry. is a setting of its client.",
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "connect.url",
        ConfigType.STRING,
        None,
        "A Connect worker, ours or Kafka's, for the page of connectors. What else starts with"
        " connect. lets the console in there: connect.basic.auth.user.info for example, and"
        " connect.ssl.ca.location. So it is with ksql., monitor. and platform.",
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "ksql.url",
        ConfigType.STRING,
        None,
        "A SQL server, ours or ksqlDB's, for the pages of statements and queries.",
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "monitor.url",
        ConfigType.STRING,
        None,
        "The monitor, for lag in seconds, verdicts and alerts.",
    ),
    ConfigDef(
        "platform.url",
        ConfigType.STRING,
        None,
        "The status of the platform, as `headwater up` says it, for its services and their health.",
    ),
    ConfigDef(
        "read.only",
        ConfigType.BOOLEAN,
        False,
        "Whether the console only shows, and changes nothing.",
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "admin.users",
        ConfigType.LIST,
        (),
        "Users of the users file who may do everything; * is everybody. Without these and"
        " editor.users, everybody who may come in may do everything.",
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "editor.users",
        ConfigType.LIST,
        (),
        "Users who may change everything but rights, users and quotas; all others only look.",
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "masked.fields",
        ConfigType.LIST,
        (),
        "Fields of records that nobody sees here, as TOPIC:FIELD; payments.*:value.card.number for"
        " example, users:key, or *:headers.token. With some, only admins run statements of SQL.",
    ),
    ConfigDef(
        "cluster.data",
        ConfigType.STRING,
        None,
        "The directory that `headwater up --engine kafka` was given with --data on this machine, so"
        " that admins can stop and start its nodes.",
    ),
)

CLUSTER_SETTINGS = Definitions("cluster", *_OF_EACH_CLUSTER, open_prefixes=_OPEN)
"""What `clusters.NAME.` stands before."""

CONSOLE_SETTINGS = Definitions(
    "console",
    *listener_definitions(DEFAULT_PORT),
    *_OF_EACH_CLUSTER,
    ConfigDef(
        "cluster.name",
        ConfigType.STRING,
        "default",
        "What the cluster is called on the pages.",
        NOT_EMPTY,
    ),
    ConfigDef(
        "audit.file",
        ConfigType.STRING,
        None,
        "A file for the audit trail, a line of JSON for each change; without it, it is kept while"
        " the console runs.",
    ),
    ConfigDef(
        "audit.file.max.bytes",
        ConfigType.INT,
        10_485_760,
        "How large that file becomes before it is called audit.file.1, and so on.",
        between(4_096, 2_147_483_647),
        importance=Importance.LOW,
    ),
    ConfigDef(
        "audit.file.backups",
        ConfigType.INT,
        5,
        "How many full files are kept.",
        between(0, 1_000),
        importance=Importance.LOW,
    ),
    ConfigDef(
        "allowed.hosts",
        ConfigType.LIST,
        (),
        "Names by which browsers call a console without users, besides localhost and addresses.",
    ),
    ConfigDef(
        "scan.max.records",
        ConfigType.INT,
        20_000,
        "How many records one search looks at before it asks whether to go on.",
        between(100, 1_000_000),
    ),
    ConfigDef(
        "tour.file",
        ConfigType.STRING,
        None,
        "A guided tour for the first page, in JSON: a title, and steps with title, text and link.",
    ),
    open_prefixes=(*_OPEN, CLUSTERS_PREFIX),
)
