"""A program whose checkpoint is in an object store: killed, started again, counted exactly."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from typing import TYPE_CHECKING

from tests.integration.streams_topics import Topics
from tests.s3_server import KEY, REGION, SECRET, S3Server

if TYPE_CHECKING:
    from pathlib import Path

    from tests.broker_process import BrokerProcess

PROGRAM = """
from headwater.streams import App

app = App("counting", guarantee="exactly_once")
words = app.stream("TOPIC", value_type="n bigint")
words.group_by_key().count(emit="record").to_stream().to("TOPIC-counts")
"""
KEYS = "abc"
EACH = 10


def test_a_checkpoint_in_a_bucket(broker: BrokerProcess, topic: str, tmp_path: Path) -> None:
    server, topics = S3Server(tmp_path), Topics(broker.bootstrap_servers)
    server.start()
    server.make_bucket("progress")
    topics.create(topic, f"{topic}-counts")
    program = tmp_path / "counting.py"
    program.write_text(PROGRAM.replace("TOPIC", topic))
    settings = {
        "endpoint": server.url,
        "endpoint.region": REGION,
        "path.style.access": "true",
        "access.key": KEY,
        "secret.key": SECRET,
    }
    command = [
        *(sys.executable, "-m", "headwater", "run", str(program)),
        *("--bootstrap-server", broker.bootstrap_servers),
        *("--checkpoint-dir", "s3a://progress/counting"),
        *("--conf", "spark.ui.enabled=false"),
        *(
            part
            for name, of in settings.items()
            for part in ("--conf", f"spark.hadoop.fs.s3a.{name}={of}")
        ),
    ]
    try:
        write(topics, topic)
        running = subprocess.Popen(command)
        try:
            topics.read(f"{topic}-counts", EACH * len(KEYS))
        finally:
            running.kill()
            running.wait()
        write(topics, topic)
        ended = subprocess.run([*command, "--once"], capture_output=True, text=True, timeout=600)
        assert ended.returncode == 0, ended.stderr
        counts: dict[str, list[int]] = defaultdict(list)
        for message in topics.read(f"{topic}-counts", 2 * EACH * len(KEYS)):
            (count,) = json.loads(message.value()).values()
            counts[message.key().decode()].append(count)
        assert counts == {key: list(range(1, 2 * EACH + 1)) for key in KEYS}
        found = server.objects("progress")
        assert found["counting/app.txt"] == b"counting"
        assert any("/state/" in name for name in found)
    finally:
        server.stop()


def write(topics: Topics, topic: str) -> None:
    """Write some records of each key."""
    for number in range(EACH):
        for key in KEYS:
            topics.produce(topic, key, {"n": number})
    topics.flush()
