"""Wrong bodies are a client's mistake, and are told so with ksqlDB's code; none is the server's."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import pytest
from tests.unit.http.running_app import RunningApp

from headwater.http.app import App, call_handler
from headwater.http.forwarding import Forwarder
from headwater.http.metrics import RequestMetrics
from headwater.sql.server.config import SqlConfig
from headwater.sql.server.http.api import INTERFACE
from headwater.sql.server.server import SqlServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.spark.jobs.host import JobHost

_NO_OBJECTS = (
    b"", b" ", b"null", b"true", b"7", b"1.5", b'"text"', b"[]", b"[{}]", b"{", b"}", b"{]",
    b"nonsense", b"{'ksql': 'x'}", b"{ksql: 1}", b'{"a" 1}', b'{"a": 1,}', b'{} {}', b"\xff\xfe",
    b'{"\xff": 1}', b"\x00", b"[" * 100_000, b'{"a":' * 100_000, b"<xml/>", b"a=1&b=2",
)  # fmt: skip
_NO_TEXTS: tuple[Any, ...] = (None, 7, 1.5, True, [], ["x"], {}, {"x": "y"})
_NO_MAPS: tuple[Any, ...] = (7, True, "x", [], [1])
_NO_SETTINGS: tuple[Any, ...] = (None, [], ["x"], {}, {"x": 1})
_NO_LONGS: tuple[Any, ...] = ("x", 1.5, True, [], {}, 2**63, -(2**63) - 1)
_FIELDS: dict[str, tuple[str, dict[str, tuple[Any, ...]]]] = {
    "/ksql": ("ksql", {
        "streamsProperties": _NO_MAPS, "sessionVariables": _NO_MAPS,
        "commandSequenceNumber": _NO_LONGS,
    }),
    "/query": ("ksql", {
        "streamsProperties": _NO_MAPS, "sessionVariables": _NO_MAPS,
        "commandSequenceNumber": _NO_LONGS,
    }),
    "/query-stream": ("sql", {"properties": _NO_MAPS, "sessionVariables": _NO_MAPS}),
    "/close-query": ("queryId", {}),
    "/inserts-stream": ("target", {"properties": _NO_MAPS}),
}  # fmt: skip
_OPTIONAL: dict[str, dict[str, tuple[Any, ...]]] = {
    "/ksql/terminate": {"deleteTopicList": (7, "x", {}, [7], [None], [["x"]])},
    "/heartbeat": {"hostInfo": _NO_MAPS, "timestamp": (None, *_NO_LONGS)},
    "/lag": {"ksqlHost": _NO_MAPS, "hostStoreLags": _NO_MAPS},
}


def wrong_requests() -> Iterator[tuple[str, bytes]]:
    for path in (*_FIELDS, *_OPTIONAL):
        for body in _NO_OBJECTS:
            # Without a body all queries end, and no topic is deleted.
            if body or path != "/ksql/terminate":
                yield path, body
    for path, (text, others) in _FIELDS.items():
        yield path, b"{}"
        yield path, json.dumps({text.upper(): "x"}).encode()
        for wrong in _NO_TEXTS:
            yield path, json.dumps({text: wrong}).encode()
        for name, values in others.items():
            for wrong in values:
                yield path, json.dumps({text: "SHOW TYPES;", name: wrong}).encode()
            if name.endswith("roperties") and path != "/inserts-stream":
                for wrong in ({"no.such": "1"}, {"auto.offset.reset": "never"}):
                    yield path, json.dumps({text: "SHOW TYPES;", name: wrong}).encode()
                for wrong in _NO_SETTINGS:
                    given = {text: "SHOW TYPES;", name: {"commit.interval.ms": wrong}}
                    yield path, json.dumps(given).encode()
            if name == "sessionVariables":
                for wrong in ({"1x": "a"}, {"": "a"}, *({"x": each} for each in _NO_SETTINGS)):
                    yield path, json.dumps({text: "SHOW TYPES;", name: wrong}).encode()
    for path, fields in _OPTIONAL.items():
        for name, values in fields.items():
            for wrong in values:
                yield path, json.dumps({name: wrong}).encode()


_WRONG = list(wrong_requests())


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """A server that knows no cluster, no leader and no Spark: no wrong request comes that far."""
    config = SqlConfig(state_dir=tmp_path_factory.mktemp("sql"))
    server = SqlServer(config, cast("JobHost", None), "http://127.0.0.1", Forwarder(1))
    with RunningApp(App(INTERFACE, call_handler(server), RequestMetrics("test"))) as running:
        yield running


@pytest.mark.parametrize(
    ("path", "body"), _WRONG, ids=[f"{path}-{body[:60]!r}" for path, body in _WRONG]
)
def test_a_wrong_body_is_a_bad_request(app: RunningApp, path: str, body: bytes) -> None:
    status, answer, _ = app.ask("POST", path, body, {"content-type": "application/json"})
    told = json.loads(answer)
    assert (status, told["@type"], told["error_code"]) == (400, "generic_error", 40000), told
    assert told["message"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/ksql", {"ksql": ""}),
        ("/ksql", {"ksql": "SHOW TYPES;", "streamsProperties": None, "sessionVariables": None}),
        ("/ksql", {"ksql": "SHOW TYPES;", "commandSequenceNumber": None, "unknown": [1]}),
        ("/ksql", {"ksql": "SHOW TYPES;", "commandSequenceNumber": -1}),
        ("/ksql", {"ksql": "SHOW VARIABLES;", "sessionVariables": {"a": True, "b": 1.5, "c": ""}}),
        ("/ksql", {"ksql": "SHOW TYPES;", "streamsProperties": {"commit.interval.ms": 100}}),
        ("/heartbeat", {"hostInfo": {"host": "a", "port": 1}, "timestamp": 1}),
        ("/heartbeat", {}),
        ("/lag", {"ksqlHost": None, "hostStoreLags": {}}),
    ],
)
def test_what_ksqldb_takes_is_taken(app: RunningApp, path: str, body: dict[str, Any]) -> None:
    status, answer, _ = app.ask("POST", path, json.dumps(body).encode())
    assert status == 200, answer


def test_a_query_that_there_is_not_cannot_be_closed(app: RunningApp) -> None:
    status, answer, _ = app.ask("POST", "/close-query", b'{"queryId": "nothing"}')
    assert (status, json.loads(answer)["error_code"]) == (400, 40000)


def test_there_are_enough_of_them() -> None:
    assert len(_WRONG) > 300
    assert {path for path, _ in _WRONG} == {
        route.path for route in INTERFACE.routes if route.method == "POST"
    }
