"""Apache Kafka as a process that tests start, stop and kill as they do the embedded broker."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.broker_process import BrokerProcess


class KafkaProcess(BrokerProcess):
    """One node of Apache Kafka, broker and controller."""

    command = (sys.executable, "-P", str(Path(__file__).with_name("kafka_broker.py")))
    # A JVM on a machine that has much else to do.
    ready_within_s = 180.0
