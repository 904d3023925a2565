"""A Connect worker in this process, whose connectors are run by tasks of a test's own."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Self

import httpx
from tests.waiting import HUNG_AFTER_S, wait_for

from headwater.clients import ClusterAccess
from headwater.config import Values
from headwater.connect.settings import CONNECT_SETTINGS
from headwater.connect.worker.config import WorkerConfig
from headwater.connect.worker.instance import Instance
from headwater.http.listener_settings import ListenerConfig
from headwater.http.listening import listen, url_of
from headwater.http.server import Server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from headwater.connect.worker.connector_spec import ConnectorSpec
    from headwater.connect.worker.progress import Progress
    from headwater.connect.worker.run import Task


class IdleTask:
    """A task that has nothing to do."""

    def step(self) -> float:
        return 0.02

    def close(self) -> None:
        pass


def open_idle(
    _spec: ConnectorSpec, _progress: Progress, _note: Callable[[Iterable[str]], None]
) -> Task:
    return IdleTask()


class WorkerInThread:
    """A worker with an event loop of its own, asked over a socket."""

    def __init__(
        self,
        servers: str,
        group: str,
        open_task: Callable[..., Task] = open_idle,
        listener: ListenerConfig | None = None,
        **settings: str,
    ) -> None:
        given = {
            "group.id": group,
            **{
                f"{kind}.storage.topic": f"{group}-{kind}"
                for kind in ("config", "offset", "status")
            },
            **settings,
        }
        self._settings = Values(CONNECT_SETTINGS, given)
        self._servers = servers
        self._listener = listener or ListenerConfig()
        self._open_task = open_task
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self.url = ""

    def __enter__(self) -> Self:
        self._thread.start()
        self._do(self._start())
        self.http = httpx.Client(base_url=self.url, timeout=HUNG_AFTER_S)
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()
        self._do(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(HUNG_AFTER_S)
        self._loop.close()

    def get(self, path: str) -> Any:
        """Return what a path holds, and insist that it is there."""
        answer = self.http.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def wait_for_state(self, name: str, state: str) -> dict[str, Any]:
        """Wait until a connector is as it should be, and return its status of that moment."""
        status: dict[str, Any] = wait_for(
            lambda: self.get(f"/connectors/{name}/status"),
            f"{name} becomes {state}",
            until=lambda status: _state(status) == state,
        )
        return status

    def _do(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(HUNG_AFTER_S)

    async def _start(self) -> None:
        listening = listen("127.0.0.1", 0)
        self.url = url_of(listening, "http", "127.0.0.1")
        config = WorkerConfig.of(self._settings, ClusterAccess(self._servers), self.url)
        self._instance = Instance(config, self._listener, self._open_task)
        await self._instance.start()
        self._server = Server(self._instance.app, listening)
        await self._server.start()

    async def _stop(self) -> None:
        await self._server.stop()
        await self._server.wait()
        await self._instance.stop()


def _state(status: dict[str, Any]) -> str:
    """Return the state of a connector's task, or of the connector without one."""
    tasks: list[Any] = status["tasks"]
    return str((tasks[0] if tasks else status["connector"])["state"])
