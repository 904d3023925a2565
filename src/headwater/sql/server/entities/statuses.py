"""What became of a statement that changes something."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.sql.server.entities.listings import Entity, entity

if TYPE_CHECKING:
    from headwater.sql.server.engine import CommandStatus


def command_status(status: CommandStatus) -> Entity:
    """Return what /status answers for one command."""
    return {"status": status.status, "message": status.message, "queryId": status.query_id}


def current_status(command_id: str, status: CommandStatus, number: int, statement: str) -> Entity:
    """Return what /ksql answers; `number` is the command's place in the command topic."""
    return entity(
        "currentStatus",
        statement,
        commandId=command_id,
        commandStatus=command_status(status),
        commandSequenceNumber=number,
    )


def warning(message: str, statement: str) -> Entity:
    """Return what /ksql answers where nothing was to be done."""
    return entity("warning_entity", statement, message=message)


def assertion(kind: str, statement: str, **parts: Any) -> Entity:
    """Return what a statement answers whose assertion holds."""
    return entity(f"assert_{kind}", statement, **parts)
