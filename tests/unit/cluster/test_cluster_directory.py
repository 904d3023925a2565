"""A cluster's directory: what is remembered, who owns it, which processes are its nodes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from tests.waiting import wait_for

from headwater.cluster.control import ClusterControl
from headwater.cluster.directory import ClusterDirectory, Owner
from headwater.cluster.errors import ClusterError
from headwater.cluster.node import Node
from headwater.processes.process_id import ProcessId

if TYPE_CHECKING:
    from pathlib import Path

NODES = (
    Node(1, ("broker",), "127.0.0.1", 9001, rack="a", settings={"x": "y"}, prefix=("nice", "-n1")),
    Node(101, ("controller",), "127.0.0.1", 9101),
)


@pytest.fixture
def directory(tmp_path: Path) -> ClusterDirectory:
    found = ClusterDirectory(tmp_path)
    found.save("an-id", NODES)
    for node in NODES:
        found.of(node).path.mkdir()
    return found


def test_nodes_are_remembered(directory: ClusterDirectory) -> None:
    assert directory.exists
    assert directory.load() == ("an-id", NODES)
    control = ClusterControl(directory)
    assert control.bootstrap_servers == "127.0.0.1:9001"
    assert [(each.state, each.pid) for each in control.status()] == [("down", None)] * 2


def test_no_cluster(tmp_path: Path) -> None:
    assert not ClusterDirectory(tmp_path).exists
    with pytest.raises(ClusterError, match=r"no cluster in .*headwater up --engine kafka"):
        ClusterControl(ClusterDirectory(tmp_path))


def test_a_node_that_is_not_there(directory: ClusterDirectory) -> None:
    control = ClusterControl(directory)
    with pytest.raises(ClusterError, match=r"no node 2; there are 1 \(broker-1\), 101"):
        control.stop_node(2)
    with pytest.raises(ClusterError, match="broker-1 does not run"):
        control.kill_node(1)


def test_one_owner_at_a_time(directory: ClusterDirectory) -> None:
    assert directory.owner() is None
    with directory.take(restarts=True):
        assert directory.owner() == Owner(os.getpid(), restarts=True)
        with pytest.raises(ClusterError, match=f"is run by process {os.getpid()} already"):
            directory.take(restarts=False)
    assert directory.owner() is None
    with directory.take(restarts=False):
        assert directory.owner() == Owner(os.getpid(), restarts=False)


def test_whoever_looks_for_the_owner_is_in_nobodys_way(directory: ClusterDirectory) -> None:
    done = threading.Event()

    def look() -> set[Owner | None]:
        seen = set()
        while not done.is_set():
            seen.add(directory.owner())
        return seen

    with ThreadPoolExecutor(2) as pool:
        looking = [pool.submit(look) for _ in range(2)]
        try:
            for _ in range(200):
                directory.take(restarts=True).close()
        finally:
            done.set()
        for each in looking:
            assert each.result() <= {None, Owner(os.getpid(), restarts=True)}


def test_a_node_can_be_held_down(directory: ClusterDirectory) -> None:
    files = directory.of(NODES[0])
    assert files.is_wanted()
    files.hold()
    assert not files.is_wanted()
    assert [each.state for each in ClusterControl(directory).status()] == ["stopped", "down"]
    files.release()
    assert files.is_wanted()


def test_a_node_is_found_by_its_process(directory: ClusterDirectory) -> None:
    files = directory.of(NODES[1])
    program = "import sys; print('up', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [
            sys.executable,
            "-m",
            "headwater.cluster.launch",
            str(files.process_file),
            sys.executable,
            "-c",
            program,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"up\n"
        process = files.process()
        assert process is not None
        assert (process.pid, process.is_running) == (child.pid, True)
        assert ClusterControl(directory).is_running(101)
        child.kill()
        wait_for(lambda: not process.is_running)  # over, though nobody has asked how it ended
        assert child.returncode is None
        assert files.process() is None


def test_a_number_that_was_given_anew_is_another_process(tmp_path: Path) -> None:
    me = ProcessId.of(os.getpid())
    assert me is not None
    ProcessId(me.pid, "long ago").write(tmp_path / "process")
    assert ProcessId.read(tmp_path / "process") is None
    me.write(tmp_path / "process")
    assert ProcessId.read(tmp_path / "process") == me


def test_the_end_of_what_a_node_said(directory: ClusterDirectory) -> None:
    files = directory.of(NODES[0])
    assert files.last_lines() == ""
    files.output.write_text("printed\n")
    files.log.write_text("\n".join(map(str, range(100))))
    assert files.last_lines(3) == "printed\n97\n98\n99"
