"""Handlers of connectors: made, changed, deleted, started and stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec

from headwater import __version__
from headwater.connect.worker.config_state import TargetState
from headwater.connect.worker.errors import bad_config, unknown_task
from headwater.connect.worker.http.rights import may_read
from headwater.connect.worker.status_state import TaskState
from headwater.http.answers import Answer, answer, encode
from headwater.http.errors import bad_request

if TYPE_CHECKING:
    from headwater.connect.worker.service import ConnectService
    from headwater.http.request import Request


class NewConnector(msgspec.Struct):
    """The body of a POST to /connectors."""

    config: dict[str, Any]
    name: str = ""
    initial_state: str | None = None


async def get_worker(service: ConnectService, _: Request) -> Answer:
    """Say which version this is, and of which cluster."""
    return answer(
        {"version": __version__, "commit": "headwater", "kafka_cluster_id": service.cluster_id}
    )


async def list_connectors(service: ConnectService, request: Request) -> Answer:
    """Return names, or what `expand` asks for."""
    connectors = service.connectors
    expand = [part for text in request.query.get("expand", []) for part in text.split(",")]
    names = [name for name in connectors.names() if may_read(request, name)]
    if not expand:
        return answer(names)
    expansions = {"status": connectors.status, "info": connectors.info}
    return answer(
        {
            name: {each: expansions[each](name) for each in expand if each in expansions}
            for name in names
        }
    )


async def create_connector(service: ConnectService, request: Request) -> Answer:
    """Make a connector."""
    body = request.decode(NewConnector)
    config = texts(body.config)
    name = (body.name or config.get("name", "")).strip()
    if not name:
        raise bad_config(["Invalid value null for configuration name: a name is needed"])
    target = _target(body.initial_state)
    await service.connectors.create(name, config, target)
    location = f"/connectors/{quote(name, safe='')}".encode()
    return Answer(encode(service.connectors.info(name)), 201, headers=((b"location", location),))


async def get_connector(service: ConnectService, request: Request) -> Answer:
    """Return a connector."""
    return answer(service.connectors.info(_name(request)))


async def get_config(service: ConnectService, request: Request) -> Answer:
    """Return a connector's configuration."""
    return answer(service.connectors.get(_name(request)).config)


async def put_config(service: ConnectService, request: Request) -> Answer:
    """Make a connector, or give it another configuration."""
    name = _name(request)
    is_new = await service.connectors.put(name, texts(request.decode(dict[str, Any])))
    return answer(service.connectors.info(name), 201 if is_new else 200)


async def patch_config(service: ConnectService, request: Request) -> Answer:
    """Change some of a connector's properties."""
    name = _name(request)
    changes = request.decode(dict[str, Any])
    given: dict[str, str | None] = dict(
        texts({key: value for key, value in changes.items() if value is not None})
    )
    await service.connectors.patch(name, given | dict.fromkeys(changes.keys() - given))
    return answer(service.connectors.info(name))


async def delete_connector(service: ConnectService, request: Request) -> Answer:
    """Delete a connector."""
    await service.connectors.delete(_name(request))
    return Answer(b"", 204)


async def get_status(service: ConnectService, request: Request) -> Answer:
    """Say how a connector is."""
    return answer(service.connectors.status(_name(request)))


async def pause_connector(service: ConnectService, request: Request) -> Answer:
    """Let a connector rest."""
    await service.connectors.aim(_name(request), TargetState.PAUSED)
    return Answer(b"", 202)


async def resume_connector(service: ConnectService, request: Request) -> Answer:
    """Let a connector go on."""
    await service.connectors.aim(_name(request), TargetState.STARTED)
    return Answer(b"", 202)


async def stop_connector(service: ConnectService, request: Request) -> Answer:
    """Let a connector give up what it holds."""
    await service.connectors.aim(_name(request), TargetState.STOPPED)
    return Answer(b"", 204)


async def restart_connector(service: ConnectService, request: Request) -> Answer:
    """Open a connector anew; with `onlyFailed`, if it has failed."""
    name = _name(request)
    status = service.connectors.status(name)
    only_failed = request.flag("onlyFailed")
    service.connectors.herder.restart(name, only_failed=only_failed)
    if not only_failed and not request.flag("includeTasks"):
        return Answer(b"", 204)
    for part in (status["connector"], *status["tasks"]):
        if not only_failed or part["state"] == TaskState.FAILED:
            part["state"] = str(TaskState.RESTARTING)
    return answer(status, 202)


async def get_topics(service: ConnectService, request: Request) -> Answer:
    """Return the topics that a connector has used."""
    name = _name(request)
    service.connectors.get(name)
    return answer({name: {"topics": service.connectors.statuses.state.topics(name)}})


async def reset_topics(service: ConnectService, request: Request) -> Answer:
    """Forget which topics a connector has used."""
    name = _name(request)
    service.connectors.get(name)
    service.connectors.statuses.forget_topics(name)
    await service.connectors.statuses.settle()
    return Answer(b"", 200)


async def list_tasks(service: ConnectService, request: Request) -> Answer:
    """Return a connector's tasks and their configurations."""
    name = _name(request)
    found = service.connectors.get(name)
    return answer(
        [
            {"id": {"connector": name, "task": number}, "config": config}
            for number, config in sorted(found.tasks.items())
        ]
    )


async def get_task_status(service: ConnectService, request: Request) -> Answer:
    """Say how a task is."""
    for task in service.connectors.status(_name(request))["tasks"]:
        if str(task["id"]) == request.parameters["task"]:
            return answer(task)
    raise unknown_task(_name(request), request.parameters["task"])


async def restart_task(service: ConnectService, request: Request) -> Answer:
    """Open a task anew."""
    await get_task_status(service, request)
    service.connectors.herder.restart(_name(request), only_failed=False)
    return Answer(b"", 204)


def texts(config: dict[str, Any]) -> dict[str, str]:
    """Return a configuration's values as text, as Kafka Connect takes numbers, too."""
    given: dict[str, str] = {}
    for name, value in config.items():
        match value:
            case None:
                continue
            case bool():
                given[name] = "true" if value else "false"
            case str() | int() | float():
                given[name] = str(value)
            case _:
                raise bad_request(f"The value of {name} is neither text, a number nor a boolean")
    return given


def _name(request: Request) -> str:
    return request.parameters["connector"]


def _target(initial: str | None) -> TargetState:
    states = {"RUNNING": TargetState.STARTED, **{each.value: each for each in TargetState}}
    found = states.get((initial or "RUNNING").upper())
    if found is None:
        raise bad_request(f"initial_state is one of RUNNING, PAUSED and STOPPED, not {initial}")
    return found
