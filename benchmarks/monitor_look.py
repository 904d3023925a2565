"""What one look of the monitor costs: `python -m benchmarks.monitor_look`, no part of `make bench`.

20,000 partitions in 2,000 topics, and 300 groups that have committed offsets of 70 partitions each;
the broker is another process, so that the CPU time is the monitor's alone.
"""

from __future__ import annotations

import gc
import sys
import time
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Any

from confluent_kafka.admin import AdminClient, NewTopic

from benchmarks.targets import HEADWATER, running
from headwater.clients import ClusterAccess
from headwater.clients.raw.broker_socket import ask, open_socket
from headwater.monitor.config import MonitorConfig
from headwater.monitor.metrics import MonitorMetrics
from headwater.monitor.run import COLLECT_AFTER
from headwater.monitor.service import MonitorService
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode

if TYPE_CHECKING:
    import socket

    from benchmarks.targets import Running

LOOKS = 12
_TOPICS = [f"topic-{number}" for number in range(2000)]
_IN_A_TOPIC = 10
_GROUPS = 300
_TOPICS_OF_A_GROUP = 7
_AT_ONCE = 200
_NOT_YET = (
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
)


def measure() -> None:
    """Fill a broker, look at it again and again, and print the median."""
    gc.set_threshold(COLLECT_AFTER)  # as in the monitor's process
    with running(HEADWATER) as broker:
        _fill(broker)
        access = ClusterAccess(broker.bootstrap_servers, {})
        service = MonitorService(replace(MonitorConfig(), access=access))
        metrics = MonitorMetrics(service.cluster)
        used = []
        for _ in range(LOOKS):
            started = time.process_time()
            service.cluster.look()
            used.append(time.process_time() - started)
        service.cluster.close()
        if service.cluster.failure is not None:
            sys.exit(service.cluster.failure)
        lines = metrics.text().count(b"\n")
    print(f"{1000 * median(used):.0f} ms of CPU a look, {lines:,} lines of metrics")


def _fill(broker: Running) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    for first in range(0, len(_TOPICS), _AT_ONCE):
        topics = [NewTopic(name, _IN_A_TOPIC, 1) for name in _TOPICS[first : first + _AT_ONCE]]
        for created in admin.create_topics(topics, request_timeout=120).values():
            created.result()
    with open_socket("127.0.0.1", broker.port, {}) as peer:
        for number in range(_GROUPS):
            group = f"group-{number}"
            body: dict[str, Any] = {"key": group, "key_type": 0}
            while ask(peer, ApiKey.FIND_COORDINATOR, 2, body).error_code in _NOT_YET:
                time.sleep(0.1)
            _commit(peer, group, number * _TOPICS_OF_A_GROUP)


def _commit(peer: socket.socket, group: str, first: int) -> None:
    names = [_TOPICS[(first + each) % len(_TOPICS)] for each in range(_TOPICS_OF_A_GROUP)]
    body = {
        "group_id": group,
        "generation_id_or_member_epoch": -1,
        "member_id": "",
        "topics": [
            {
                "name": name,
                "partitions": [
                    {"partition_index": index, "committed_offset": 0, "committed_metadata": ""}
                    for index in range(_IN_A_TOPIC)
                ],
            }
            for name in names
        ],
    }
    while True:
        answer = ask(peer, ApiKey.OFFSET_COMMIT, 8, body)
        codes = {each.error_code for topic in answer.topics for each in topic.partitions}
        if codes == {ErrorCode.NONE}:
            return
        if not codes <= set(_NOT_YET):
            raise RuntimeError(f"the offsets of {group} were not taken: {codes}")
        time.sleep(0.1)


if __name__ == "__main__":
    measure()
