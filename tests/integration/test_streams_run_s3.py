"""A program with its checkpoint in an object store, as docs/pipelines.md has it, killed once."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections import defaultdict
from typing import TYPE_CHECKING

from tests.docs_page import ROOT, blocks
from tests.integration.streams_topics import Topics
from tests.s3_server import KEY, SECRET, S3Server

if TYPE_CHECKING:
    from pathlib import Path

    from tests.broker_process import BrokerProcess

PROGRAM = """
from headwater.streams import App

app = App("counting", guarantee="exactly_once")
words = app.stream("TOPIC", value_type="n bigint")
words.group_by_key().count(emit="record").to_stream().to("TOPIC-counts")
"""
ENDPOINT = "spark.hadoop.fs.s3a.endpoint"
KEYS = "abc"
EACH = 10


def test_a_checkpoint_in_a_bucket(broker: BrokerProcess, topic: str, tmp_path: Path) -> None:
    server, topics = S3Server(tmp_path), Topics(broker.bootstrap_servers)
    topics.create(topic, f"{topic}-counts")
    program = tmp_path / "counting.py"
    program.write_text(PROGRAM.replace("TOPIC", topic))
    page = blocks(ROOT / "docs" / "pipelines.md", "bash")[-1]
    _, *words = shlex.split(page.replace("\\\n", " "))
    given = {
        "alerts.py": str(program),
        f"{ENDPOINT}=http://localhost:9000": f"{ENDPOINT}={server.url}",
    }
    command = [
        *(sys.executable, "-m", "headwater", *(given.get(word, word) for word in words)),
        *("--bootstrap-server", broker.bootstrap_servers, "--conf", "spark.ui.enabled=false"),
    ]
    keys = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET}
    environment = {**os.environ, **keys}
    try:
        server.start()
        server.make_bucket("progress")
        write(topics, topic)
        running = subprocess.Popen(command, env=environment)
        try:
            topics.read(f"{topic}-counts", EACH * len(KEYS))
        finally:
            running.kill()
            running.wait()
        write(topics, topic)
        ended = subprocess.run(
            [*command, "--once"], env=environment, capture_output=True, text=True, timeout=600
        )
        assert ended.returncode == 0, ended.stderr
        counts: dict[str, list[int]] = defaultdict(list)
        for message in topics.read(f"{topic}-counts", 2 * EACH * len(KEYS)):
            (count,) = json.loads(message.value()).values()
            counts[message.key().decode()].append(count)
        assert counts == {key: list(range(1, 2 * EACH + 1)) for key in KEYS}
        found = server.objects("progress")
        assert found["alerts/app.txt"] == b"counting"
        assert any("/state/" in name for name in found)
    finally:
        server.stop()


def write(topics: Topics, topic: str) -> None:
    """Write some records of each key."""
    for number in range(EACH):
        for key in KEYS:
            topics.produce(topic, key, {"n": number})
    topics.flush()
