"""Writes docs/settings.md from the definitions: `python docs/settings.py`."""

from __future__ import annotations

import sys
from pathlib import Path

from headwater.broker.config.settings import BROKER_SETTINGS
from headwater.broker.config.settings.deviations import OUR_DEFAULTS, OUR_UPDATE_MODES
from headwater.config.documentation import markdown_names, markdown_table
from headwater.connect.settings import CONNECT_SETTINGS
from headwater.console.settings import CONSOLE_SETTINGS
from headwater.log.topic_settings import TOPIC_SETTINGS
from headwater.monitor.settings import MONITOR_SETTINGS
from headwater.registry.settings import REGISTRY_SETTINGS
from headwater.rest.settings import REST_SETTINGS
from headwater.sql.server.settings import SQL_SETTINGS

PAGE = Path(__file__).with_name("settings.md")

_INTRODUCTION = """\
# Settings

<!-- Written by docs/settings.py from the definitions in the code. -->

Every service has its settings under the names that Kafka and Confluent gave them. They can be given
in four places; what comes later in this list wins:

1. a file, with `--config`: a Java properties file as Kafka's tools take it, or TOML. In
   `headwater.toml` each service has a table, `[broker]` or `[registry]`;
2. the environment: `HEADWATER_`, the service and the name in capitals, with `_` for dots:
   `HEADWATER_BROKER_NUM_PARTITIONS=3`. Names that have `_`, `-` or capitals
   of their own are in one JSON object, as in
   `HEADWATER_OTHERS_BROKER={"listener.name.sasl_ssl.connections.max.reauth.ms": "60000"}`;
3. `--property NAME=VALUE`, as often as needed; for `headwater up` with the service in front,
   `--property broker.num.partitions=3`;
4. options of their own, such as `--port`.

A name that does not exist, or a value that a setting cannot have, is refused at start, with the
file and line, table, variable or option that it stands in. Only an unknown variable is not, since
others set variables too; one that looks like a slip is pointed out. Passwords are never shown.
"""

_BROKER = """\
## Broker

They are Kafka's, with Kafka's defaults, but for those in [the list below](#where-it-differs).
"At run time" says which ones `headwater configs alter --broker` changes while the broker runs.
"""

_DEVIATIONS = """\
### Where it differs

Defaults that are not Kafka's:
"""

_FIXED = """\
Settings that Kafka changes at run time, and Headwater at start only:
"""

_WITHOUT_EFFECT = """\
### Taken, without effect

A single node has no use for these. They are taken, so that a file made for Apache Kafka works as it
is, and checked, and shown by `headwater configs describe --all` with a note. The broker's log names
those that were set.
"""

_TOPICS = """\
## Topics

Topics have them under Kafka's names and with the broker's values as defaults:
`headwater topics create NAME --config retention.ms=3600000`, or `headwater configs alter --topic`.
"""

_REGISTRY = """\
## Registry

They are Confluent's. Whatever else starts with `kafkastore.` goes to the Kafka client, for example
`kafkastore.security.protocol`.
"""

_REST = """\
## REST proxy

They are Confluent's. Whatever else starts with `client.`, `producer.` or `consumer.` goes to the
Kafka clients, for example `client.security.protocol`, and what starts with `schema.registry.` to
the registry's client.
"""

_MONITOR = """\
## Monitor

Whatever else starts with `client.` goes to the Kafka client, for example
`client.security.protocol`.
"""

_CONNECT = """\
## Connect

They are Kafka Connect's. What else starts with `key.converter.` or `value.converter.` belongs to a
converter, `security.` and `sasl.` to the Kafka clients.
"""

_SQL = """\
## SQL server

They are ksqlDB's. Properties of queries can be set in a session too, with `SET`.
"""

_CONSOLE = """\
## Console

Whatever else starts with `client.` goes to the Kafka client, and what starts with
`schema.registry.` to the registry's client.
"""


def page() -> str:
    """Return the whole page."""
    broker, topics = BROKER_SETTINGS.values(), TOPIC_SETTINGS.values()
    return "\n".join(
        [
            _INTRODUCTION,
            _BROKER,
            markdown_table(broker),
            _DEVIATIONS,
            _list(OUR_DEFAULTS),
            _FIXED,
            _list(OUR_UPDATE_MODES),
            _WITHOUT_EFFECT,
            markdown_names(broker),
            _TOPICS,
            markdown_table(topics),
            "Taken, without effect:\n",
            markdown_names(topics),
            _REGISTRY,
            markdown_table(REGISTRY_SETTINGS.values()),
            _REST,
            markdown_table(REST_SETTINGS.values()),
            _MONITOR,
            markdown_table(MONITOR_SETTINGS.values()),
            _CONNECT,
            markdown_table(CONNECT_SETTINGS.values()),
            "Taken, without effect:\n",
            markdown_names(CONNECT_SETTINGS.values()),
            _SQL,
            markdown_table(SQL_SETTINGS.values()),
            _CONSOLE,
            markdown_table(CONSOLE_SETTINGS.values()),
        ]
    ).rstrip("\n") + "\n"  # fmt: skip


def _list(reasons: dict[str, str]) -> str:
    return "".join(f"- `{name}`: {reason}\n" for name, reason in sorted(reasons.items()))


if __name__ == "__main__":
    PAGE.write_text(page())
    sys.stdout.write(f"wrote {PAGE}\n")
