"""Callers as whom the proxy logs in: what is told of those who are not let in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.rest.config import RestConfig
from headwater.rest.identities import _logs_in

if TYPE_CHECKING:
    import pytest


def test_a_stranger_writes_no_lines_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "headwater.rest")
    config = RestConfig.from_settings({"client.security.protocol": "NONE"})
    assert not _logs_in(config, "ann\n" + "x" * 1000)
    (record,) = caplog.records
    said = record.getMessage()
    assert said.startswith("'ann\\nxxx")
    assert len(said) < 300
