"""The archive of Kafka's classes: how its maker waits for the node that it starts."""

from __future__ import annotations

import socketserver
import struct
import sys
import threading
import time

from headwater.cluster.class_archive import POLL_S, becomes_ready
from headwater.cluster.node import Node
from headwater.processes.child import ChildProcess

NO_BROKERS = struct.pack(">iii", 8, 1, 0)
ASKED = 4


def test_a_node_that_answers_but_is_no_member_yet_is_asked_now_and_then() -> None:
    with ChildProcess([sys.executable, "-c", "import time; time.sleep(600)"]) as process:
        asked: list[float] = []

        class Answer(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                self.request.recv(1000)
                asked.append(time.monotonic())
                self.request.sendall(NO_BROKERS)
                if len(asked) == ASKED:
                    process.stop()

        with socketserver.TCPServer(("127.0.0.1", 0), Answer) as server:
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            try:
                node = Node(1, ("broker", "controller"), "127.0.0.1", server.server_address[1])
                assert not becomes_ready(node, process)
            finally:
                server.shutdown()
                thread.join()
    assert asked[ASKED - 1] - asked[0] >= (ASKED - 1) * POLL_S * 0.9
