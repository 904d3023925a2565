"""What Spark needs beside PySpark: its Kafka connector and Avro, by pinned coordinate, and our own.

The list is explicit and resolved without following what the POMs name: the connector's parts are
released at different times, and these versions are the ones that were tried out together.
"""

from __future__ import annotations

from pathlib import Path

from headwater.java.artifacts import fetch

CONNECTOR = (
    "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.1.0-preview1",
    "org.apache.kafka:kafka-clients:3.9.2",
    "org.apache.commons:commons-pool2:2.12.1",
    "org.apache.spark:spark-avro_2.13:4.0.0",
)
OPERATORS = Path(__file__).parent / "jars" / "headwater-spark.jar"


class OperatorsMissing(Exception):  # noqa: N818 - named like JavaNotFound, for what is not there
    """Our own jar was not built; the message says how to."""


def connector_jars() -> tuple[Path, ...]:
    """Return Spark's Kafka connector and Avro; fetched once, then found in the cache."""
    return fetch("spark-connector", CONNECTOR, transitive=False)


def operators_jar() -> Path:
    """Return the jar with our operators and the exactly-once sink."""
    if not OPERATORS.is_file():
        raise OperatorsMissing(
            f"{OPERATORS.name} is not built. It comes with the installed package; "
            "in a checkout of the source, build it with: python jvm/build.py"
        )
    return OPERATORS


def session_jars() -> tuple[Path, ...]:
    """Return all that a session has on its class path."""
    return (*connector_jars(), operators_jar())
