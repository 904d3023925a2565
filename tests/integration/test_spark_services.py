"""Services that need Spark, in one process of the platform: they share a JVM, once they need it."""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import TYPE_CHECKING

import httpx
from tests.integration.streams_topics import Topics
from tests.spark_session import ROOT
from tests.unit.up.supervised import Supervised

if TYPE_CHECKING:
    from pathlib import Path

    import psutil

WITHIN_S = 240


def jvms(platform: Supervised) -> list[psutil.Process]:
    return [each for each in platform.processes("java") if "java" in each.name()]


def test_they_share_a_jvm_that_starts_with_the_first_job(topic: str, tmp_path: Path) -> None:
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "tests.integration.spark_services_platform", str(tmp_path)]
    with Supervised(command, tmp_path, {"PYTHONPATH": path}) as platform:
        urls = [
            platform.wait_for(rf"spark has {name} at (http://\S+)")[1]
            for name in ("copier", "mirror")
        ]
        topics = Topics(platform.wait_for(r"broker has broker at (\S+)")[1])
        (process,) = platform.processes("-m headwater spark-services")
        assert jvms(platform) == [], "an idle platform does without"
        loaded = {each.path for each in process.memory_maps()}
        assert not [each for each in loaded if "pyarrow" in each], "and without Spark's Python"
        topics.create(topic)
        topics.write(topic, {"value": 7})
        with (
            httpx.Client(base_url=urls[0], timeout=WITHIN_S) as copier,
            httpx.Client(base_url=urls[1], timeout=WITHIN_S) as mirror,
        ):
            refused = copier.post("/copies/no-such-topic")
            assert refused.status_code == 422
            assert "there is no topic 'no-such-topic'" in refused.json()["message"]
            assert jvms(platform) == [], "nor for what is refused"
            assert copier.post(f"/copies/{topic}").json() == {"copy": f"{topic}-copier"}
            assert mirror.post(f"/copies/{topic}").json() == {"copy": f"{topic}-mirrored"}
            for client, name in ((copier, "copier"), (mirror, "mirror")):
                assert client.get("/copies").json() == [
                    {"name": f"{name}-{topic}", "state": "running"}
                ]
        for copy in ("copier", "mirrored"):
            (record,) = topics.read(f"{topic}-{copy}", 1)
            assert json.loads(record.value()) == {"value": 7}
        assert len(jvms(platform)) == 1
        platform.signal(signal.SIGINT)
        assert platform.wait() == 0, platform.text
        assert "Traceback" not in platform.text
        assert platform.survivors() == []
