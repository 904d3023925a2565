"""All kinds of connectors by the names that `connector.class` may have."""

from __future__ import annotations

from difflib import get_close_matches

from headwater.connect.connectors.connector import ConnectorError, SinkPlugin, SourcePlugin
from headwater.connect.connectors.debezium.mysql.connector import MARIADB, MYSQL
from headwater.connect.connectors.debezium.postgresql.connector import PostgresPlugin
from headwater.connect.connectors.elasticsearch.sink import ElasticsearchSinkPlugin
from headwater.connect.connectors.file.sink import FileStreamSinkPlugin
from headwater.connect.connectors.file.source import FileStreamSourcePlugin
from headwater.connect.connectors.http.sink import HttpSinkPlugin
from headwater.connect.connectors.http.source import HttpSourcePlugin
from headwater.connect.connectors.jdbc.sink import JdbcSinkPlugin
from headwater.connect.connectors.jdbc.source import JdbcSourcePlugin
from headwater.connect.connectors.mqtt.sink import MqttSinkPlugin
from headwater.connect.connectors.mqtt.source import MqttSourcePlugin
from headwater.connect.connectors.objects.sink import S3SinkPlugin
from headwater.connect.connectors.python import python_plugin
from headwater.connect.connectors.spark import SparkSinkPlugin, SparkSourcePlugin

PLUGINS: tuple[SourcePlugin | SinkPlugin, ...] = (
    FileStreamSourcePlugin(),
    FileStreamSinkPlugin(),
    JdbcSourcePlugin(),
    JdbcSinkPlugin(),
    MYSQL,
    MARIADB,
    PostgresPlugin(),
    MqttSourcePlugin(),
    MqttSinkPlugin(),
    HttpSourcePlugin(),
    HttpSinkPlugin(),
    S3SinkPlugin(),
    ElasticsearchSinkPlugin(),
    SparkSourcePlugin(),
    SparkSinkPlugin(),
)

_BY_NAME = {name: plugin for plugin in PLUGINS for name in plugin.class_names}


def plugin(class_name: str) -> SourcePlugin | SinkPlugin:
    """Return the plug-in of this name; `package.module:Class` is a Python class of the user's.

    Raises ConnectorError, which says which names are like it.

    >>> plugin("FileStreamSource").class_names[0]
    'org.apache.kafka.connect.file.FileStreamSourceConnector'
    """
    if ":" in class_name:
        return python_plugin(class_name)
    found = _BY_NAME.get(class_name)
    if found is not None:
        return found
    close = get_close_matches(class_name, _BY_NAME, n=3)
    there = ", ".join(close or [each.class_names[0] for each in PLUGINS])
    hint = "did you mean one of" if close else "there are"
    raise ConnectorError(f"there is no connector class {class_name}; {hint} {there}")
