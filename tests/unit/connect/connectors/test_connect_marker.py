"""The marker beside a sink's file: after any crash each line is there, and there once."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from functools import partial
from typing import TYPE_CHECKING

import pytest
from tests.waiting import wait_for

from headwater.connect.connectors.connector import ConnectorError, TopicPartition
from headwater.connect.connectors.file.marker import Marker

if TYPE_CHECKING:
    from pathlib import Path

TP = TopicPartition("orders-by-day", 3)


def opened(path: Path) -> Marker:
    marker = Marker(path, "a sink")
    marker.recover()
    return marker


def test_every_torn_append_is_cut_off_and_done_again(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    opened(path).append([b"one\n"], {TP: 1})
    second = b"two\nthree\n"
    for written in range(len(second) + 1):
        path.write_bytes(b"one\n")
        marker = opened(path)
        marker.append([second], {TP: 3})
        # The crash: the marker is there, and so much of the lines.
        path.write_bytes(b"one\n" + second[:written])
        after = opened(path)
        if written == len(second):
            assert after.positions == {TP: 3}
        else:
            assert after.positions == {TP: 1}
            after.append([second], {TP: 3})
        assert path.read_bytes() == b"one\n" + second
        opened(path).append([b""], {TP: 1})


def test_a_process_that_is_killed_again_and_again_writes_each_line_once(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    program = textwrap.dedent(f"""
        from pathlib import Path
        from headwater.connect.connectors.connector import TopicPartition
        from headwater.connect.connectors.file.marker import Marker
        marker = Marker(Path({str(path)!r}), "sink")
        marker.recover()
        at = marker.positions.get(TopicPartition("t", 0), 0)
        while at < 300:
            text = b"".join(b"%d %s\\n" % (n, b"x" * 5000) for n in range(at, at + 10))
            marker.append([text], {{TopicPartition("t", 0): at + 10}})
            at += 10
    """)
    for size in (40_000, 400_000, 900_000):
        process = subprocess.Popen([sys.executable, "-c", program])
        wait_for(partial(_has, path, size))
        process.kill()
        process.wait()
    subprocess.run([sys.executable, "-c", program], check=True)
    assert [int(line.split()[0]) for line in path.read_text().splitlines()] == list(range(300))


def _has(path: Path, size: int) -> bool:
    return path.exists() and path.stat().st_size > size


def test_what_others_have_appended_stays(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    opened(path).append([b"mine\n"], {TP: 1})
    with path.open("ab") as file:
        file.write(b"theirs\n")
    marker = opened(path)
    assert marker.positions == {TP: 1}
    marker.append([b"mine, too\n"], {TP: 2})
    assert path.read_bytes() == b"mine\ntheirs\nmine, too\n"


def test_a_damaged_marker_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    opened(path).append([b"one\n"], {TP: 1})
    marker = next(tmp_path.glob(".lines.txt.*.marker"))
    marker.write_text("{")
    with pytest.raises(ConnectorError, match=r"damaged.*remove it to go on"):
        opened(path)
