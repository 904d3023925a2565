"""Secrets among Spark's settings: on no command line, and in a file for nobody else."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any

import pytest
from pyspark import SparkConf, java_gateway

from headwater.config.properties import properties_with_lines
from headwater.spark.secret_settings import handed_over, public_and_secret

if TYPE_CHECKING:
    from pathlib import Path

VARIABLE = "PYSPARK_SUBMIT_ARGS"
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.authenticate": "true",
    "spark.authenticate.secret": "hush = a:b \\ c#!",
    "spark.hadoop.fs.s3a.secret.key": "hush2",
    "spark.hadoop.fs.s3a.bucket.a.access.key": "hush3",
    "spark.hadoop.fs.azure.account.key.b.net": "hush4",
}
NOT_STARTED = "nothing is started"


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands with which PySpark would have started its JVM."""
    asked: list[list[str]] = []

    def note(command: list[str], **_: Any) -> None:
        asked.append(command)
        raise OSError(NOT_STARTED)

    monkeypatch.setattr(java_gateway, "Popen", note)
    return asked


def start(public: dict[str, str]) -> None:
    conf = SparkConf(loadDefaults=False)
    for name, text in public.items():
        conf.set(name, text)
    with pytest.raises(OSError, match=NOT_STARTED):
        java_gateway.launch_gateway(conf)  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("before", [None, "--name mine pyspark-shell"])
def test_they_are_in_a_file_that_is_named_to_the_jvm(
    before: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, commands: list[list[str]]
) -> None:
    if before is None:
        monkeypatch.delenv(VARIABLE, raising=False)
    else:
        monkeypatch.setenv(VARIABLE, before)
    folder = tmp_path / "a folder"
    folder.mkdir()
    public, secret = public_and_secret(SETTINGS)
    with handed_over(secret, folder):
        (file,) = folder.iterdir()
        assert file.stat().st_mode & 0o777 == 0o600
        found = properties_with_lines(file.read_text("utf-8"))
        assert {name: each.text for name, each in found.items()} == secret
        start(public)
    assert os.environ.get(VARIABLE) == before
    assert not list(folder.iterdir())
    (command,) = commands
    assert "hush" not in " ".join(command)
    assert "spark.ui.enabled=false" in command
    assert command[command.index("--properties-file") + 1] == str(file)
    assert command[-len(shlex.split(before or "pyspark-shell")) :] == shlex.split(
        before or "pyspark-shell"
    )
    assert set(secret) == {name for name, text in SETTINGS.items() if "hush" in text}


def test_without_secrets_all_is_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, commands: list[list[str]]
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    public, secret = public_and_secret({"spark.ui.enabled": "false"})
    with handed_over(secret, tmp_path):
        start(public)
    assert "--properties-file" not in commands[0]
    assert not list(tmp_path.iterdir())
