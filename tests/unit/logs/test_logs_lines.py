"""Logs as JSON: one object a line, whatever is in it, and who wrote it where many do."""

from __future__ import annotations

import io
import json
import logging
import sys
from typing import TYPE_CHECKING

from headwater.logs.lines import VARIABLE, JsonFormatter, TextFormatter
from headwater.up.log_lines import LogLines

if TYPE_CHECKING:
    import pytest


def record(message: str, *arguments: object) -> logging.LogRecord:
    return logging.LogRecord("headwater.x", logging.WARNING, "f", 1, message, arguments, None)


def test_a_line_is_an_object_whatever_is_in_it() -> None:
    text = JsonFormatter().format(record('two\nlines, %s and "quotes"', b"bytes"))
    assert "\n" not in text
    line = json.loads(text)
    assert (line["level"], line["logger"]) == ("WARNING", "headwater.x")
    assert line["message"] == "two\nlines, b'bytes' and \"quotes\""
    assert line["timestamp"].endswith("Z")


def test_a_traceback_is_a_field() -> None:
    try:
        raise ValueError("wrong")
    except ValueError:
        failed = record("it failed")
        failed.exc_info = sys.exc_info()
    line = json.loads(JsonFormatter().format(failed))
    assert line["exception"].endswith("ValueError: wrong")


def test_nobody_makes_up_lines() -> None:
    name = "ann\n2026-01-01 INFO all is well\r\x1b[2J\x85\u2028\u202e\ud800\x00\t\x7fé"
    text = TextFormatter().format(record("denied %s", name))
    assert text.endswith(
        r"denied ann\n2026-01-01 INFO all is well\r\x1b[2J\x85\u2028\u202e\ud800\x00" "\t" r"\x7fé"
    )
    assert len(text.splitlines()) == 1
    text.encode()
    try:
        raise ValueError(name)
    except ValueError:
        failed = record("it failed")
        failed.exc_info = sys.exc_info()
    first, *others = TextFormatter().format(failed).splitlines()
    assert first.endswith("WARNING it failed")
    assert others[0] == "  Traceback (most recent call last):"
    assert all(line.startswith("  ") for line in others)


def test_many_services_are_told_apart_by_a_field(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "json")
    out = io.StringIO()
    log = LogLines(["broker", "kafka-1"], out, colours=True)
    log.write("broker", [JsonFormatter().format(record("hello"))])
    log.write("kafka-1", ["[2026-01-01] INFO what a JVM writes", "5"])
    log.say("all are ready")
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [(line["service"], line["message"]) for line in lines] == [
        ("broker", "hello"),
        ("kafka-1", "[2026-01-01] INFO what a JVM writes"),
        ("kafka-1", "5"),
        ("up", "all are ready"),
    ]
    assert all("timestamp" in line for line in lines)
