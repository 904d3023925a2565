"""The monitor's settings; filters have kafka_exporter's names."""

from __future__ import annotations

import re

from headwater.config import (
    NOT_EMPTY,
    ConfigDef,
    ConfigType,
    Definitions,
    Importance,
    Validator,
    at_least,
    list_of,
)
from headwater.http.listener_settings import listener_definitions

DEFAULT_PORT = 9308
CLIENT_PREFIX = "client."


def _is_pattern(text: str) -> bool:
    try:
        re.compile(text)
    except re.error:
        return False
    return True


_PATTERN = Validator("a regular expression", _is_pattern)

MONITOR_SETTINGS = Definitions(
    "monitor",
    *listener_definitions(DEFAULT_PORT),
    ConfigDef(
        "bootstrap.servers",
        ConfigType.LIST,
        ("localhost:9092",),
        "The cluster to watch; what starts with client. is a setting of the Kafka client,"
        " client.security.protocol for example.",
        list_of(may_be_empty=False),
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "cluster.name",
        ConfigType.STRING,
        "default",
        "What the cluster is called in metrics and paths.",
        NOT_EMPTY,
    ),
    ConfigDef(
        "poll.interval.ms",
        ConfigType.INT,
        10_000,
        "How long to wait between two looks at the cluster.",
        at_least(100),
    ),
    ConfigDef(
        "evaluation.window.samples",
        ConfigType.INT,
        10,
        "How many looks at a group a verdict is based on.",
        at_least(2),
    ),
    ConfigDef("topic.filter", ConfigType.STRING, ".*", "Topics that are shown.", _PATTERN),
    ConfigDef("topic.exclude", ConfigType.STRING, "^$", "Topics that are not.", _PATTERN),
    ConfigDef("group.filter", ConfigType.STRING, ".*", "Groups that are shown.", _PATTERN),
    ConfigDef("group.exclude", ConfigType.STRING, "^$", "Groups that are not.", _PATTERN),
    ConfigDef(
        "alert.rules.file",
        ConfigType.STRING,
        None,
        "A TOML file of rules, in place of those that are checked otherwise.",
    ),
    ConfigDef(
        "alert.webhook.url",
        ConfigType.STRING,
        None,
        "Where alerts are posted, as Alertmanager posts them.",
    ),
    ConfigDef(
        "alert.email.smtp.server",
        ConfigType.STRING,
        None,
        "A mail server, HOST:PORT, that alerts are sent through.",
    ),
    ConfigDef(
        "alert.email.to",
        ConfigType.LIST,
        (),
        "Who gets alerts by e-mail.",
        list_of(may_be_empty=True),
    ),
    ConfigDef(
        "alert.email.from",
        ConfigType.STRING,
        "headwater@localhost",
        "Who they are from.",
        NOT_EMPTY,
    ),
    ConfigDef(
        "alert.email.starttls",
        ConfigType.BOOLEAN,
        False,
        "Whether the mail server has to speak TLS before anything is sent.",
    ),
    ConfigDef("alert.email.username", ConfigType.STRING, None, "Whom it knows us as."),
    ConfigDef("alert.email.password", ConfigType.PASSWORD, None, "That user's password."),
    ConfigDef(
        "certificates.watch",
        ConfigType.LIST,
        (),
        "Servers, as HOST:PORT, whose certificates are looked at; brokers that are reached by TLS"
        " are so anyway.",
        list_of(may_be_empty=True),
    ),
    ConfigDef("alert.topic", ConfigType.STRING, None, "A topic that alerts are written to."),
    open_prefixes=(CLIENT_PREFIX,),
)
