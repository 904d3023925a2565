"""Connectors as clients see and change them; changes are made on the worker that leads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.connect.connectors.connector import ConnectorError
from headwater.connect.connectors.plugins import plugin as find_plugin
from headwater.connect.worker.config_state import TargetState, configured, deleted, targeted
from headwater.connect.worker.errors import (
    bad_config,
    connector_exists,
    unknown_connector,
)
from headwater.connect.worker.status_state import Status, TaskState
from headwater.connect.worker.validation import validated

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.connect.worker.config import WorkerConfig
    from headwater.connect.worker.config_state import ConfigState, StoredConnector
    from headwater.connect.worker.herder import Herder
    from headwater.connect.worker.status_log import StatusLog
    from headwater.topic_state.writer import Writer

_UNASSIGNED = Status(TaskState.UNASSIGNED, None, "", 0)


class Connectors:
    """All connectors of the group."""

    def __init__(
        self,
        config: WorkerConfig,
        state: ConfigState,
        writer: Writer,
        statuses: StatusLog,
        herder: Herder,
    ) -> None:
        self.config = config
        self.statuses = statuses
        self.herder = herder
        self._state = state
        self._writer = writer

    def names(self) -> list[str]:
        """Return the names of all connectors."""
        return list(self._state.connectors())

    def get(self, name: str) -> StoredConnector:
        """Return a connector; raises HttpError 404."""
        found = self._state.get(name)
        if found is None:
            raise unknown_connector(name)
        return found

    def info(self, name: str) -> dict[str, Any]:
        """Return Kafka Connect's ConnectorInfo."""
        found = self.get(name)
        return {
            "name": name,
            "config": found.config,
            "tasks": [{"connector": name, "task": number} for number in sorted(found.tasks)],
            "type": connector_type(found.config),
        }

    def status(self, name: str) -> dict[str, Any]:
        """Return Kafka Connect's ConnectorStateInfo, with how far it is where it runs here."""
        found = self.get(name)
        connector = self.statuses.state.connectors.get(name, _UNASSIGNED)
        task = self.statuses.state.tasks.get(name)
        status: dict[str, Any] = {
            "name": name,
            "connector": _shown(connector),
            "tasks": [] if task is None else [{"id": 0, **_shown(task)}],
            "type": connector_type(found.config),
        }
        progress = self.herder.progress(name)
        if progress is not None:
            status["progress"] = progress.summary(self.config.stalled_after_s)
        return status

    async def create(
        self, name: str, config: Mapping[str, str], target: TargetState = TargetState.STARTED
    ) -> None:
        """Store a new connector; raises HttpError 409, and 400 with all that is wrong."""
        if self._state.get(name) is not None:
            raise connector_exists(name)
        checked = self.checked(name, config)
        first = targeted(name, target) if target is not TargetState.STARTED else []
        await self._write([*first, *configured(name, checked, checked)])

    async def put(self, name: str, config: Mapping[str, str]) -> bool:
        """Store a connector, and return whether it is new; raises HttpError 400."""
        is_new = self._state.get(name) is None
        checked = self.checked(name, config)
        await self._write(configured(name, checked, checked))
        return is_new

    async def patch(self, name: str, changes: Mapping[str, str | None]) -> None:
        """Change some of a connector's properties, and take those out that are null."""
        merged: dict[str, str | None] = {**self.get(name).config, **changes}
        await self.put(name, {key: text for key, text in merged.items() if text is not None})

    async def delete(self, name: str) -> None:
        """Delete a connector; its topics and offsets stay."""
        self.get(name)
        await self._write(deleted(name))

    async def aim(self, name: str, target: TargetState) -> None:
        """Say what a connector is to do."""
        if self.get(name).target is not target:
            await self._write(targeted(name, target))

    def checked(self, name: str, config: Mapping[str, str]) -> dict[str, str]:
        """Return a configuration with its name in it; raises HttpError 400."""
        given = config.get("name", name)
        if given != name:
            raise bad_config([f"Connector name configuration ({given}) is not '{name}'"])
        named = {**config, "name": name}
        try:
            errors = validated(named, self.config.converters).errors
        except ConnectorError as failure:
            raise bad_config([str(failure)]) from None
        if errors:
            raise bad_config(errors)
        return named

    async def _write(self, records: list[tuple[bytes, bytes | None]]) -> None:
        await self._writer.write(records)
        self.herder.wake()


def connector_type(config: Mapping[str, str]) -> str:
    """Return source, sink, or unknown."""
    try:
        return str(find_plugin(config.get("connector.class", "")).type)
    except ConnectorError:
        return "unknown"


def _shown(status: Status) -> dict[str, Any]:
    shown = {"state": str(status.state), "worker_id": status.worker_id}
    return shown if status.trace is None else {**shown, "trace": status.trace}
