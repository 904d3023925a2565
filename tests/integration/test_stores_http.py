"""Look-ups over HTTP: the same answers, and what keeps a store from them in HTTP's words."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from tests.integration.store_topics import WINDOWED, StoreTopic
from tests.waiting import HUNG_AFTER_S

from headwater.clients import ClusterAccess
from headwater.plan.formats import Format
from headwater.plan.schemas.types import BIGINT
from headwater.stores import Side, Stores
from headwater.stores.http.api import serve_stores

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from headwater.stores import Position

NOON = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)


class Served:
    """Four stores: by text, by number, windowed, and one whose topic is not there."""

    def __init__(self, servers: str, topic: str, directory: Path) -> None:
        self.counts = StoreTopic(servers, topic)
        self.numbers = StoreTopic(servers, f"{topic}-numbers")
        self.windows = StoreTopic(servers, f"{topic}-windows")
        self.stores = Stores(
            [
                self.counts.table,
                replace(self.numbers.table, name="numbers", key=Side(Format("json"), BIGINT)),
                replace(self.windows.table, name="windows", key=WINDOWED, windowed=True),
                replace(self.counts.table, name="missing", topic=f"{topic}-missing"),
            ],
            ClusterAccess(servers),
            directory,
        )
        port = serve_stores(self.stores, 0)
        self.http = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=HUNG_AFTER_S)

    def get(self, path: str, at_least: Position | None = None, **query: Any) -> Any:
        """Return the answer to a request that has one."""
        if at_least is not None:
            query |= {"at_least": at_least.to_json(), "timeout_ms": int(HUNG_AFTER_S * 1000)}
        answer = self.http.get(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def refused(self, path: str, **query: Any) -> tuple[int, int, str]:
        """Return status, code and message of a refusal."""
        answer = self.http.get(path, params=query)
        body = answer.json()
        return answer.status_code, body["error_code"], body["message"]


@pytest.fixture
def served(bootstrap_servers: str, topic: str, tmp_path: Path) -> Iterator[Served]:
    found = Served(bootstrap_servers, topic, tmp_path)
    yield found
    found.http.close()
    found.stores.close()


def test_keys_ranges_and_windows(served: Served, topic: str) -> None:
    for key in ("a", "b/c", "ä", "d"):
        served.counts.send(key, len(key))
    position = served.counts.flush()
    found = served.get("/stores/counts/keys/b%2Fc", position)
    assert (found["key"], found["value"]) == ("b/c", {"count": 3})
    assert found["position"].keys() == {topic}
    assert served.get("/stores/counts/keys/%C3%A4")["value"] == {"count": 1}

    def keys(**query: Any) -> tuple[list[str], bool]:
        page = served.get("/stores/counts/entries", **query)
        return [entry["key"] for entry in page["entries"]], page["more"]

    assert keys() == (["a", "b/c", "d", "ä"], False)
    assert keys(**{"from": "b", "to": "d"}) == (["b/c", "d"], False)
    assert keys(reverse="true", limit=2) == (["ä", "d"], True)
    assert keys(prefix="b") == (["b/c"], False)

    served.numbers.send(-17, 1)
    position = served.numbers.flush()
    assert served.get("/stores/numbers/keys/-17", position)["key"] == -17

    for minute in (0, 1, 2):
        start = NOON + dt.timedelta(minutes=minute)
        end = start + dt.timedelta(minutes=1)
        window = {"window_start": start.isoformat(), "window_end": end.isoformat()}
        served.windows.send({"key": "a", **window}, minute)
    position = served.windows.flush()
    page = served.get("/stores/windows/windows/a", position, time_from="2026-01-01T12:01:00Z")
    assert page["entries"][0] == {
        "key": "a",
        "window_start": "2026-01-01T12:01:00Z",
        "window_end": "2026-01-01T12:02:00Z",
        "value": {"count": 1},
    }
    assert len(page["entries"]) == 2
    page = served.get("/stores/windows/windows", reverse="true", limit=1)
    assert [entry["value"] for entry in page["entries"]] == [{"count": 2}]
    assert served.get("/stores/windows/windows/b")["entries"] == []


def test_what_cannot_be_answered(served: Served, topic: str) -> None:
    status, code, message = served.refused("/stores/other")
    assert (status, code) == (404, 40401)
    assert "there is no store 'other' (there are: counts, missing, numbers, windows)" in message
    served.stores.get("counts").wait_until_ready(HUNG_AFTER_S)
    assert served.refused("/stores/counts/keys/a") == (
        404, 40402, "The store 'counts' has no key 'a'",
    )  # fmt: skip
    status, code, message = served.refused("/stores/missing/keys/a")
    assert (status, code) == (503, 50301)
    assert "the store 'missing' is loading: " in message
    assert served.get("/stores/missing/entries", stale="true")["entries"] == []
    beyond = json.dumps({topic: {"0": 1000}})
    for path in ("/stores/counts/keys/a", "/stores/counts/entries"):
        status, code, message = served.refused(path, at_least=beyond, timeout_ms=1)
        assert (status, code) == (503, 50302)
        assert "did not reach" in message
    for path, query, reason in (
        ("numbers/keys/x", {}, "'x' is no key of this store, which are bigint"),
        ("counts/keys/x", {"at_least": "x"}, "'x' is no position"),
        ("counts/entries", {"prefix": "a", "from": "b"}, "A prefix goes without"),
        ("counts/windows/x", {}, "has no windows: use /keys"),
        ("windows/keys/x", {}, "has windows: use /windows"),
        ("windows/windows/x", {"time_from": "noon"}, "is no time"),
    ):
        status, _, message = served.refused(f"/stores/{path}", **query)
        assert status == 400
        assert reason in message


def test_stores_say_how_they_are(served: Served, topic: str) -> None:
    served.counts.send("a", 1)
    served.get("/stores/counts/keys/a", served.counts.flush())
    counts, missing = served.get("/stores")[:2]
    assert (counts["name"], counts["topic"], counts["ready"]) == ("counts", topic, True)
    assert counts["trouble"] is None
    assert counts["position"][topic]
    assert not missing["ready"]
    document = served.get("/openapi.json")
    assert "/stores/{store}/windows/{key}" in document["paths"]
    metrics = served.http.get("/metrics").text
    assert 'route="/stores/{store}/keys/{key}",status="200"' in metrics
