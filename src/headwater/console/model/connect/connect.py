"""Connectors of a Connect worker, ours or Kafka's: asked by Connect's REST interface alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from headwater.console.model.json_service import RefusedError
from headwater.console.model.paging import Page, Wanted, page_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.console.model.json_service import JsonService

# As long as Kafka Connect takes for an answer to what it has to store, and to share with others.
_CHANGE_WITHIN_S = 90.0
_LOOK_WITHIN_S = 10.0
_QUICK_S = 2.0
RUNNING = "RUNNING"
ACTIONS = {
    "pause": ("PUT", "/pause"),
    "resume": ("PUT", "/resume"),
    "stop": ("PUT", "/stop"),
    "restart": ("POST", "/restart?includeTasks=true&onlyFailed=false"),
}


class Task(NamedTuple):
    """A task, and why it has failed."""

    id: int
    state: str
    worker: str
    trace: str


@dataclass(frozen=True)
class Connector:
    """A connector as its workers tell of it."""

    name: str
    type: str
    class_name: str
    state: str
    worker: str
    trace: str
    tasks: Sequence[Task]
    config: Mapping[str, str]
    progress: Mapping[str, Any] = field(default_factory=dict)
    """Rows, lag and restarts, as our workers count them; nothing at Kafka's."""

    @property
    def full_error(self) -> str:
        """Why it, or the first of its tasks that failed, has failed; empty if none has."""
        failed = [each.trace for each in self.tasks if each.trace]
        return self.trace or (failed[0] if failed else str(self.progress.get("last_error") or ""))

    @property
    def error(self) -> str:
        """The same in one line."""
        return self.full_error.strip().partition("\n")[0]

    @property
    def health(self) -> str:
        """Its state, or that of its tasks where some have failed although it has not."""
        states = Counter(each.state for each in self.tasks)
        if self.state == RUNNING and states["FAILED"]:
            return "FAILED"
        if self.progress.get("stalled"):
            return "STALLED"
        return self.state

    @property
    def running_tasks(self) -> int:
        """How many tasks run."""
        return sum(each.state == RUNNING for each in self.tasks)


class Plugin(NamedTuple):
    """A kind of connector."""

    class_name: str
    type: str
    version: str

    @property
    def short_name(self) -> str:
        """The last part of its class."""
        return self.class_name.rpartition(".")[2].removesuffix("Connector")


class Connect:
    """All methods block, and raise ClientError where no worker answers."""

    def __init__(self, service: JsonService) -> None:
        self.url = service.url
        self._service = service

    def all(self, within_s: float = _LOOK_WITHIN_S) -> list[Connector]:
        """Return all connectors."""
        path = "/connectors?expand=status&expand=info"
        answer = self._service.ask("GET", path, within_s=within_s)
        return [_connector(each["info"], each["status"]) for each in answer.values()]

    def failing(self) -> list[Connector]:
        """Return those that somebody should look at; nobody waits long for it."""
        return [each for each in self.all(_QUICK_S) if each.health in ("FAILED", "STALLED")]

    def page(self, wanted: Wanted) -> Page[Connector]:
        """Return a page of connectors."""
        return page_of(
            self.all(),
            wanted,
            lambda each: each.name,
            {"state": lambda each: each.health, "type": lambda each: each.type},
        )

    def one(self, name: str) -> Connector:
        """Return a connector; raises RefusedError where there is none."""
        return _connector(self._look(_path(name)), self._look(f"{_path(name)}/status"))

    def topics(self, name: str) -> list[str]:
        """Return the topics that it has used; none where the worker does not keep that."""
        try:
            answer = self._look(f"{_path(name)}/topics")
        except RefusedError:
            return []
        return sorted(answer.get(name, {}).get("topics", ()))

    def offsets(self, name: str) -> list[tuple[Any, Any]]:
        """Return how far it is: what of its source or topic, and where in there."""
        answer = self._look(f"{_path(name)}/offsets")
        return [(each["partition"], each["offset"]) for each in answer["offsets"]]

    def reset_offsets(self, name: str) -> str:
        """Forget them, so that it begins anew; it has to be stopped. Returns what was said."""
        answer = self._change("DELETE", f"{_path(name)}/offsets")
        return str((answer or {}).get("message", ""))

    def act(self, name: str, action: str) -> None:
        """Pause, resume, stop or restart it."""
        method, path = ACTIONS[action]
        self._change(method, f"{_path(name)}{path}")

    def delete(self, name: str) -> None:
        """Delete it; what it has written stays, and so do its offsets."""
        self._change("DELETE", _path(name))

    def create(self, name: str, config: Mapping[str, str], state: str = RUNNING) -> None:
        """Make a connector, which must not be there yet; workers before Kafka 3.7 start it."""
        body: dict[str, object] = {"name": name, "config": dict(config)}
        if state != RUNNING:
            body["initial_state"] = state
        self._change("POST", "/connectors", body)

    def configure(self, name: str, config: Mapping[str, str]) -> None:
        """Give it another configuration."""
        self._change("PUT", f"{_path(name)}/config", dict(config))

    def plugins(self) -> list[Plugin]:
        """Return the kinds of connectors that the worker has."""
        found = [
            Plugin(each["class"], each["type"], each.get("version") or "")
            for each in self._look("/connector-plugins")
        ]
        return sorted(
            (each for each in found if each.type in ("source", "sink")),
            key=lambda each: (each.type, each.short_name),
        )

    def validate(self, class_name: str, config: Mapping[str, str]) -> dict[str, Any]:
        """Return Connect's ConfigInfos: each property with its documentation and errors."""
        path = f"/connector-plugins/{quote(class_name, safe='')}/config/validate"
        body = {**config, "connector.class": class_name}
        answer: dict[str, Any] = self._service.ask("PUT", path, body, within_s=_CHANGE_WITHIN_S)
        return answer

    def _look(self, path: str) -> Any:
        return self._service.ask("GET", path, within_s=_LOOK_WITHIN_S)

    def _change(self, method: str, path: str, body: object = None) -> Any:
        return self._service.ask(method, path, body, within_s=_CHANGE_WITHIN_S)


def _connector(info: Mapping[str, Any], status: Mapping[str, Any]) -> Connector:
    config, own = info["config"], status["connector"]
    return Connector(
        info["name"],
        str(status.get("type") or info.get("type") or ""),
        config.get("connector.class", ""),
        own["state"],
        own.get("worker_id", ""),
        own.get("trace") or "",
        [
            Task(each["id"], each["state"], each.get("worker_id", ""), each.get("trace") or "")
            for each in status["tasks"]
        ],
        config,
        status.get("progress") or {},
    )


def _path(name: str) -> str:
    return f"/connectors/{quote(name, safe='')}"
