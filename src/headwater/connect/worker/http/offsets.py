"""Handlers of connectors' offsets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from headwater.connect.worker.config_state import TargetState
from headwater.connect.worker.errors import not_idle, not_stopped
from headwater.http.answers import answer

if TYPE_CHECKING:
    from headwater.connect.worker.service import ConnectService
    from headwater.http.answers import Answer
    from headwater.http.request import Request


class PartitionOffset(msgspec.Struct):
    """A partition, and its offset; without one, it is forgotten."""

    partition: dict[str, Any]
    offset: dict[str, Any] | None


class Offsets(msgspec.Struct):
    """The offsets of a connector."""

    offsets: list[PartitionOffset]


async def get_offsets(service: ConnectService, request: Request) -> Answer:
    """Return a connector's offsets."""
    name = request.parameters["connector"]
    config = service.connectors.get(name).config
    found = await service.offsets.read(name, config)
    return answer(
        {"offsets": [{"partition": partition, "offset": offset} for partition, offset in found]}
    )


async def alter_offsets(service: ConnectService, request: Request) -> Answer:
    """Change offsets of a connector that is stopped."""
    name = request.parameters["connector"]
    config = _stopped(service, name)
    changes = [(each.partition, each.offset) for each in request.decode(Offsets).offsets]
    await service.offsets.alter(name, config, changes)
    message = "The offsets for this connector have been altered successfully"
    return answer({"message": message})


async def reset_offsets(service: ConnectService, request: Request) -> Answer:
    """Forget the offsets of a connector that is stopped."""
    name = request.parameters["connector"]
    config = _stopped(service, name)
    await service.offsets.reset(name, config)
    message = "The offsets for this connector have been reset successfully"
    return answer({"message": message})


def _stopped(service: ConnectService, name: str) -> dict[str, str]:
    found = service.connectors.get(name)
    if found.target is not TargetState.STOPPED:
        raise not_stopped(name)
    if service.connectors.herder.is_running(name):
        raise not_idle(name)
    return found.config
