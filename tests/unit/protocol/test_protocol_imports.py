"""A broker is to be up in a blink, so what is slow to import waits until it is needed."""

from __future__ import annotations

import builtins
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from headwater.protocol import messages
from headwater.protocol.api_keys import ApiKey

if TYPE_CHECKING:
    import pytest

HOT = (
    "import sys, headwater.protocol.produce, headwater.protocol.fetch, headwater.protocol.metadata,"
    "headwater.protocol.list_offsets, headwater.protocol.api_versions, headwater.protocol.frames,"
    "headwater.protocol.messages;"
)


def loaded_after(statement: str) -> set[str]:
    printed = subprocess.run(
        [sys.executable, "-c", f"{HOT}{statement};print(*sys.modules)"],
        check=True,
        capture_output=True,
        text=True,
    )
    return set(printed.stdout.split())


def test_the_hot_codecs_need_neither_kio_nor_dataclasses() -> None:
    loaded = loaded_after("pass")
    assert "headwater.protocol.messages" in loaded
    assert not loaded & {"kio", "dataclasses", "inspect", "uuid", "datetime", "asyncio"}


def test_the_first_cold_message_loads_kio() -> None:
    loaded = loaded_after(
        "from headwater.protocol import ApiKey, messages;"
        "messages.encode_response(ApiKey.CREATE_TOPICS, 7, {})"
    )
    assert "kio" in loaded
    assert "kio.serial" not in loaded


def test_kio_is_loaded_without_hypothesis_which_can_be_had_later() -> None:
    loaded = loaded_after("from headwater.protocol import messages; messages.preload()")
    assert "kio" in loaded
    assert "hypothesis" not in loaded
    assert "hypothesis.strategies" in loaded_after(
        "from headwater.protocol import messages; messages.preload(); import hypothesis.strategies"
    )


def test_later_ones_come_to_no_import_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    # Two empty strings with a number between them, null, and no tagged fields.
    frame = memoryview(b"\x01" + bytes(4) + b"\x01\x00\x00")
    imported = []
    really_import = builtins.__import__

    def note(name: str, *rest: Any) -> Any:
        imported.append(name)
        return really_import(name, *rest)

    for imports in (really_import, note):
        monkeypatch.setattr(builtins, "__import__", imports)
        messages.decode_request(ApiKey.HEARTBEAT, 4, frame)
        messages.encode_response(ApiKey.HEARTBEAT, 4, {})
    monkeypatch.undo()
    assert imported == []
