"""Apache Kafka behind the command line of `headwater broker`, to run tests of the one on the other.

    HEADWATER_TEST_BROKER="python -P tests/kafka_broker.py" pytest tests/chaos/test_spark_*.py

It is one node. Whoever kills this process kills the node with it, in the same moment.
"""

from __future__ import annotations

import argparse
import ctypes
import signal
import subprocess
import sys
from pathlib import Path

from headwater.cluster import KafkaCluster, NodeOptions

NODE = 1

_PR_SET_PDEATHSIG = 1
_JVM_ENDS_WELL = (0, 128 + signal.SIGTERM)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["broker"])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--property", dest="properties", action="append", default=[])
    given = parser.parse_args()
    settings = dict(each.split("=", 1) for each in given.properties)
    own = {NODE: NodeOptions(port=given.port or None)}
    cluster = KafkaCluster(given.data, settings=settings, nodes=own, restarts=True)
    node = cluster.node(NODE)
    process = subprocess.Popen(cluster.command(node), preexec_fn=_die_with_the_parent)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    cluster.wait_until_ready([NODE])
    print(f"listening on 127.0.0.1:{node.port}", flush=True)
    return 0 if process.wait() in _JVM_ENDS_WELL else 1


def _die_with_the_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
