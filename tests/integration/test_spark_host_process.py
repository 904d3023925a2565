"""A host with a JVM of its own: started once, shared fairly, killed, and gone in the end."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from tests.spark_session import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.broker_process import BrokerProcess

ENDED_WITHIN_S = 600


def test_one_jvm_for_all_jobs(broker: BrokerProcess, topic: str, tmp_path: Path) -> None:
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "tests.integration.spark_host_driver"),
            *(broker.bootstrap_servers, topic, str(tmp_path)),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=ENDED_WITHIN_S,
        check=False,
    )
    assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr}"
    # Before them is what a JVM says that cannot start.
    assert ended.stdout.split()[-3:] == ["fair", "revived", "stopped"]
