"""Secrets by reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.config import ConfigError
from headwater.connect.config_providers import hidden, resolved

if TYPE_CHECKING:
    from pathlib import Path


def test_references_are_looked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = tmp_path / "secrets.properties"
    secrets.write_text("password = s3cret\n")
    monkeypatch.setenv("DATABASE", "plant")
    config = {
        "url": "jdbc:mariadb://db/${env:DATABASE}",
        "password": f"${{file:{secrets}:password}}",
        "plain": "${other:x}",
    }
    assert resolved(config) == {
        "url": "jdbc:mariadb://db/plant",
        "password": "s3cret",
        "plain": "${other:x}",
    }
    assert hidden("access denied with s3cret", config) == "access denied with [hidden]"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("${env:NO_SUCH_VARIABLE}", "no such environment variable"),
        ("${file:/no/such/file:key}", "No such file"),
        ("${file:nothing}", "write"),
    ],
)
def test_what_is_not_there_is_named(value: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason) as refused:
        resolved({"password": value})
    assert refused.value.name == "password"
