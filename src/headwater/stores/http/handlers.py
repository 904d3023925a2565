"""What each route answers."""

from __future__ import annotations

import asyncio
import datetime as dt
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any

from headwater.http.answers import answer
from headwater.http.errors import HttpError, bad_request
from headwater.stores.bounds import WAIT_S
from headwater.stores.errors import (
    PositionNotReachedError,
    StoreError,
    StoreLoadingError,
    StoreValueError,
    UnknownStoreError,
)
from headwater.stores.key_value import KeyValueStore
from headwater.stores.position import Position
from headwater.stores.windows import WindowStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from headwater.http.answers import Answer
    from headwater.http.request import Request
    from headwater.stores.bounds import Bound
    from headwater.stores.opening import Stores

    Entry = dict[str, Any]
    AnyStore = KeyValueStore | WindowStore

_LIMIT, _MAX_LIMIT = 100, 10_000


async def list_stores(stores: Stores, request: Request) -> Answer:
    """Answer GET /stores."""
    return answer([_described(stores.get(name)) for name in stores.names])


async def get_store(stores: Stores, request: Request) -> Answer:
    """Answer GET /stores/{store}."""
    with _told():
        return answer(_described(_store(stores, request)))


async def get_key(stores: Stores, request: Request) -> Answer:
    """Answer GET /stores/{store}/keys/{key}."""
    with _told():
        store = _without_windows(_store(stores, request))
        key = store.keys.parsed(request.parameters["key"])
        await _wait(store, request)
        with store.snapshot(stale=request.flag("stale")) as position:
            value = store.get(key)
    if value is None:
        raise HttpError(404, 40402, f"The store {store.name!r} has no key {key!r}")
    return answer({"key": key, "value": value, "position": position.as_dict()})


async def get_entries(stores: Stores, request: Request) -> Answer:
    """Answer GET /stores/{store}/entries."""
    with _told():
        store = _without_windows(_store(stores, request))
        first, last, prefix = (
            store.keys.parsed(request.text(name)) if request.text(name) else None
            for name in ("from", "to", "prefix")
        )
        backward = request.flag("reverse")
        if prefix is not None and (first is not None or last is not None or backward):
            raise bad_request("A prefix goes without from, to and reverse")

        def entries(**bound: Any) -> Iterator[Entry]:
            if prefix is not None:
                found = store.prefix_scan(prefix, **bound)
            else:
                ranged = store.reverse_range if backward else store.range
                found = ranged(first, last, **bound)
            return ({"key": key, "value": value} for key, value in found)

        return await _page(store, request, entries)


async def get_windows(stores: Stores, request: Request) -> Answer:
    """Answer GET /stores/{store}/windows and /stores/{store}/windows/{key}."""
    with _told():
        store = _store(stores, request)
        if not isinstance(store, WindowStore):
            raise bad_request(f"The table in the store {store.name!r} has no windows: use /keys")
        times = _time(request, "time_from"), _time(request, "time_to")
        backward = request.flag("reverse")
        given = request.parameters.get("key")
        key = None if given is None else store.parsed_key(given)

        def of_key(**bound: Any) -> Iterator[Entry]:
            fetch = store.backward_fetch if backward else store.fetch
            return (_entry(key, window, value) for window, value in fetch(key, *times, **bound))

        def of_all(**bound: Any) -> Iterator[Entry]:
            fetch = store.backward_fetch_all if backward else store.fetch_all
            return (_entry(*place, value) for place, value in fetch(*times, **bound))

        return await _page(store, request, of_all if given is None else of_key)


async def _page(
    store: AnyStore, request: Request, entries: Callable[..., Iterator[Entry]]
) -> Answer:
    limit = min(max(request.number("limit", _LIMIT), 1), _MAX_LIMIT)

    def page() -> dict[str, Any]:
        with store.snapshot(**_bound(request)) as position:
            found = list(islice(entries(), limit + 1))
        more = len(found) > limit
        return {"entries": found[:limit], "more": more, "position": position.as_dict()}

    # In a thread: it may be long, or wait, and others want answers meanwhile.
    return answer(await asyncio.to_thread(page))


async def _wait(store: AnyStore, request: Request) -> None:
    bound = _bound(request)
    position = bound.get("at_least")
    if position is not None and not position.reached_by(store.position()):
        await asyncio.to_thread(store.wait_until, position, bound["timeout_s"])


def _bound(request: Request) -> Bound:
    text = request.text("at_least")
    return {
        "at_least": Position.from_json(text) if text else None,
        "timeout_s": request.number("timeout_ms", int(WAIT_S * 1000)) / 1000,
        "stale": request.flag("stale"),
    }


@contextmanager
def _told() -> Iterator[None]:
    """Say what keeps a store from answering in HTTP's words."""
    try:
        yield
    except UnknownStoreError as failure:
        raise HttpError(404, 40401, str(failure)) from None
    except StoreLoadingError as failure:
        raise HttpError(503, 50301, str(failure)) from None
    except PositionNotReachedError as failure:
        raise HttpError(503, 50302, str(failure)) from None
    except StoreValueError as failure:
        raise bad_request(str(failure)) from None
    except StoreError as failure:
        raise HttpError(503, 50303, str(failure)) from None


def _store(stores: Stores, request: Request) -> AnyStore:
    return stores.get(request.parameters["store"])


def _without_windows(store: AnyStore) -> KeyValueStore:
    if not isinstance(store, KeyValueStore):
        raise bad_request(f"The table in the store {store.name!r} has windows: use /windows")
    return store


def _described(store: AnyStore) -> Entry:
    return {
        "name": store.name,
        "topic": store.table.topic,
        "windowed": store.table.windowed,
        "ready": store.is_ready,
        "trouble": store.trouble,
        "position": store.position().as_dict(),
    }


def _entry(key: Any, window: Any, value: Any) -> Entry:
    return {"key": key, "window_start": window.start, "window_end": window.end, "value": value}


def _time(request: Request, name: str) -> dt.datetime | None:
    text = request.text(name)
    try:
        return dt.datetime.fromisoformat(text) if text else None
    except ValueError:
        raise bad_request(
            f"The query parameter {name} is no time, as 2026-01-01T00:00:00Z: '{text}'"
        ) from None
