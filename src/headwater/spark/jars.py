"""What Spark needs beside PySpark: its Kafka connector and Avro, by coordinate, and our own.

The connector's parts are released at different times. PySpark's own version of each is asked for
first; where that cannot be had, it is the version that was tried out. They are resolved without
following what the POMs name, which may be a second Spark.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

from headwater.java.artifacts import fetch, fetch_first

# Of PySpark 4.3: the newest that could be had of each, tried out together.
TRIED = (
    "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
    "org.apache.spark:spark-avro_2.13:4.1.1",
)
LIBRARIES = ("org.apache.kafka:kafka-clients:3.9.2", "org.apache.commons:commons-pool2:2.12.1")
OPERATORS = Path(__file__).parent / "jars" / "headwater-spark.jar"


class OperatorsMissing(Exception):  # noqa: N818 - named like JavaNotFound, for what is not there
    """Our own jar was not built; the message says how to."""


def connector_jars() -> tuple[Path, ...]:
    """Return Spark's Kafka connector and Avro; fetched once, then found in the cache."""
    own = version("pyspark")
    parts = [
        fetch_first("spark-connector", [f"{tried.rpartition(':')[0]}:{own}", tried])
        for tried in TRIED
    ]
    return (*parts, *fetch("spark-connector", LIBRARIES, transitive=False))


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
