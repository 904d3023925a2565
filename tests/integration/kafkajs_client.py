"""Runs kafkajs: installs what its lock file pins, once, and talks to it in JSON."""

from __future__ import annotations

import base64
import functools
import json
import subprocess
from pathlib import Path
from typing import Any

from tests import node_packages

HERE = Path(__file__).with_name("kafkajs")


class KafkajsError(Exception):
    """What kafkajs threw; `type` is Kafka's name of the error, where the broker gave one."""

    def __init__(self, name: str, type: str | None, message: str) -> None:  # noqa: A002
        super().__init__(f"{name} ({type}): {message}")
        self.type = type


def run(action: str, broker: str, *, retries: int = 5, **arguments: object) -> Any:
    """One action of `client.js`; its result, or the error that kafkajs gave."""
    request = {"action": action, "broker": broker, "retries": retries, **arguments}
    node = _node()
    assert node.stdin is not None
    assert node.stdout is not None
    node.stdin.write(json.dumps(request) + "\n")
    node.stdin.flush()
    said = node.stdout.readline()
    assert said, f"node ended with {node.wait()}"
    answer = json.loads(said)
    if "error" in answer:
        raise KafkajsError(**answer["error"])
    return answer.get("result")


@functools.cache
def _node() -> subprocess.Popen[str]:
    """One for all that this process asks; it ends with it, when its input does."""
    install()
    return subprocess.Popen(
        ["node", str(HERE / "client.js")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def install() -> None:
    """Install kafkajs, unless it is there already."""
    node_packages.install(HERE)


def encoded(value: bytes | None) -> str | None:
    return None if value is None else base64.b64encode(value).decode()


def decoded(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)
