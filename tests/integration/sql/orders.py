"""The stream that every test of a SQL server finds there."""

from __future__ import annotations

ORDERS = (
    "CREATE STREAM orders (id STRING KEY, item INT, amount INT) "
    "WITH (kafka_topic='orders', value_format='JSON', partitions=2);"
)
