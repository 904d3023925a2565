"""Levels of loggers, shown and set over HTTP as Kafka Connect does."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.http.running_app import RunningApp, app_of

from headwater.logs.levels import set_level

if TYPE_CHECKING:
    from collections.abc import Iterator

PARENT, CHILD = "headwater.levels", "headwater.levels.child"


@pytest.fixture
def app() -> Iterator[RunningApp]:
    logging.getLogger(CHILD)
    logging.getLogger(PARENT)
    with RunningApp(app_of()) as running:
        yield running
    set_level(PARENT, None)


def ask(app: RunningApp, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    sent = None if body is None else json.dumps(body).encode()
    status, answer, _ = app.ask(method, path, body=sent)
    return status, json.loads(answer)


def test_a_level_is_set_for_all_below(app: RunningApp) -> None:
    assert ask(app, "PUT", f"/admin/loggers/{PARENT}", {"level": "debug"}) == (
        200,
        [PARENT, CHILD],
    )
    assert logging.getLogger(CHILD).isEnabledFor(logging.DEBUG)
    status, one = ask(app, "GET", f"/admin/loggers/{CHILD}")
    assert (status, one) == (200, {"level": "DEBUG", "last_modified": None})
    status, every = ask(app, "GET", "/admin/loggers")
    assert status == 200
    assert every[CHILD] == one
    assert "root" in every


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "message"),
    [
        ("PUT", f"/admin/loggers/{PARENT}", {"level": "LOUD"}, 404, "LOUD is no log level"),
        ("PUT", f"/admin/loggers/{PARENT}", ["DEBUG"], 400, "has to be"),
        ("PUT", "/admin/loggers", {"level": "DEBUG"}, 405, "405"),
        ("DELETE", f"/admin/loggers/{PARENT}", None, 405, "405"),
        ("GET", "/admin/loggers/headwater.nobody", None, 404, "headwater.nobody not found"),
        ("GET", f"/admin/loggers/{PARENT}/more", None, 404, "more not found"),
    ],
)
def test_what_cannot_be_is_refused(
    app: RunningApp, method: str, path: str, body: Any, status: int, message: str
) -> None:
    code, answer = ask(app, method, path, body)
    assert code == status
    assert message in answer["message"]
