"""What Spark needs beside PySpark: its Kafka connector and Avro, by coordinate, and our own.

The connector's parts are released at different times. PySpark's own version of each is asked for
first; where that cannot be had, it is the version that was tried out. They are resolved without
following what the POMs name, which may be a second Spark.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.java.artifacts import fetch, fetch_first

if TYPE_CHECKING:
    from collections.abc import Mapping

# Of PySpark 4.3: the newest that could be had of each, tried out together.
TRIED = (
    "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
    "org.apache.spark:spark-avro_2.13:4.1.1",
)
LIBRARIES = ("org.apache.kafka:kafka-clients:3.9.2", "org.apache.commons:commons-pool2:2.12.1")
_AWS = "2.35.4"
# Of PySpark 4.3's Hadoop. Its POM names AWS's bundle, which has 650 MB; these are the parts of it
# that are used, without what Spark has already.
S3A = (
    "org.apache.hadoop:hadoop-aws:3.5.0",
    "software.amazon.s3.analyticsaccelerator:analyticsaccelerator-s3:1.3.1",
    "software.amazon.eventstream:eventstream:1.0.1",
    "org.reactivestreams:reactive-streams:1.0.4",
    *(
        f"software.amazon.awssdk:{name}:{_AWS}"
        for name in (
            "annotations",
            "apache-client",
            "arns",
            "auth",
            "aws-core",
            "aws-query-protocol",
            "aws-xml-protocol",
            "checksums",
            "checksums-spi",
            "crt-core",
            "endpoints-spi",
            "http-auth",
            "http-auth-aws",
            "http-auth-aws-eventstream",
            "http-auth-spi",
            "http-client-spi",
            "identity-spi",
            "json-utils",
            "metrics-spi",
            "netty-nio-client",
            "profiles",
            "protocol-core",
            "regions",
            "retries",
            "retries-spi",
            "s3",
            "s3-transfer-manager",
            "sdk-core",
            "sts",
            "third-party-jackson-core",
            "utils",
            "utils-lite",
        )
    ),
)
S3A_SETTINGS = "spark.hadoop.fs.s3a."
"""What settings of the file system s3a:// begin with; where there is one, it is needed."""
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


def file_system_jars(conf: Mapping[str, str]) -> tuple[Path, ...]:
    """Return what the file systems need that a session's settings speak of."""
    if not any(name.startswith(S3A_SETTINGS) for name in conf):
        return ()
    return fetch("s3a", S3A, transitive=False)


def file_system_settings(place: Path | str | None) -> dict[str, str]:
    """Return the settings of a session that is to reach an address."""
    if isinstance(place, str) and place.startswith("s3a://"):
        return {f"{S3A_SETTINGS}impl": "org.apache.hadoop.fs.s3a.S3AFileSystem"}
    return {}


def session_jars() -> tuple[Path, ...]:
    """Return all that a session has on its class path."""
    return (*connector_jars(), operators_jar())
