"""Kills a process while it changes topics and ACLs; what it said must be so."""

from __future__ import annotations

import asyncio
import copy
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.chaos.seeds import seeds
from tests.chaos.topic_changer import Change, open_registry
from tests.effort import often

from headwater.log.checkpoint import read_topic_id

KILLS_PER_SEED = often(6, in_soak=30)
State = dict[str, Any]

pytestmark = pytest.mark.chaos


@pytest.mark.parametrize("seed", seeds(2))
def test_topics_and_acls_survive_kills_at_any_moment(tmp_path: Path, seed: int) -> None:
    directory = tmp_path / "data"
    directory.mkdir()
    state: State = {"topics": {}, "retention": None, "acls": set()}
    dice = random.Random(seed)
    for round_number in range(KILLS_PER_SEED):
        done, begun = _change_until_killed(directory, f"{seed}-{round_number}", dice)
        for change in done:
            _apply(state, change)
        or_else = copy.deepcopy(state)
        if begun is not None:
            _apply(or_else, begun)
        found = _load(directory)
        assert found in (state, or_else), (begun, done[-3:])
        state = found


def _change_until_killed(
    directory: Path, seed: str, dice: random.Random
) -> tuple[list[Change], Change | None]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.chaos.topic_changer", str(directory), seed],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
        text=True,
    )
    assert process.stdout is not None
    done: list[Change] = []
    begun: Change | None = None
    lines_left = dice.randint(1, 40)
    for line in process.stdout:
        begun = _follow(line, begun, done)
        lines_left -= 1
        if lines_left == 0:
            process.kill()
    process.wait()
    process.stdout.close()
    assert lines_left <= 0, f"it ended by itself with {process.returncode}"
    return done, begun


def _follow(line: str, begun: Change | None, done: list[Change]) -> Change | None:
    if not line.endswith("\n"):
        return begun
    if line == "done\n":
        assert begun is not None
        done.append(begun)
        return None
    change: Change = json.loads(line)
    return change


def _apply(state: State, change: Change) -> None:
    topics = state["topics"]
    match change["kind"]:
        case "create":
            topics.update((name, [change["partitions"], None]) for name in change["names"])
        case "delete":
            for name in change["names"]:
                del topics[name]
        case "grow":
            topics[change["name"]][0] = change["count"]
        case "configure":
            topics[change["name"]][1] = change["value"]
        case "acls":
            state["acls"] = (state["acls"] | set(change["added"])) - set(change["removed"])
        case "broker":
            state["retention"] = change["retention"]


def _load(directory: Path) -> State:
    registry, config = open_registry(str(directory))
    topics = {}
    served = set()
    for topic in registry.by_name.values():
        topics[topic.name] = [len(topic.partitions), topic.configs.get("retention.ms")]
        retention = topic.configs.get("retention.ms") or config.topic_defaults()["retention.ms"]
        for partition in topic.partitions:
            served.add(partition.log.directory)
            stored = read_topic_id(Path(partition.log.directory) / "partition.metadata")
            assert stored == topic.topic_id
            assert partition.log.config.retention_ms == int(retention)
            assert partition.log.log_end_offset == 0
    for entry in os.scandir(directory):
        if entry.is_dir() and not entry.name.endswith(("-delete", "-stray")):
            assert Path(entry.path) in {Path(path) for path in served}
    asyncio.run(registry.close())
    for partition_log in [p.log for t in registry.by_name.values() for p in t.partitions]:
        partition_log.close()
    return {
        "topics": topics,
        "retention": config.dynamic_default.get("log.retention.ms"),
        "acls": {acl.principal for acl in registry.acls},
    }
