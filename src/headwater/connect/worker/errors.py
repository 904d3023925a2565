"""What a client of the worker is told, in Kafka Connect's words and with its codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.http.errors import HttpError

if TYPE_CHECKING:
    from collections.abc import Sequence


def unknown_connector(name: str) -> HttpError:
    """There is no such connector."""
    return HttpError(404, 404, f"Connector {name} not found")


def unknown_task(name: str, task: str) -> HttpError:
    """A connector has no such task."""
    return HttpError(404, 404, f"Task {task} of connector {name} not found: there is task 0")


def connector_exists(name: str) -> HttpError:
    """The name is taken."""
    return HttpError(409, 409, f"Connector {name} already exists")


def bad_config(errors: Sequence[str]) -> HttpError:
    """A configuration is refused, with all that is wrong with it."""
    listed = "\n".join(errors)
    return HttpError(
        400,
        400,
        "Connector configuration is invalid and contains the following "
        f"{len(errors)} error(s):\n{listed}\nYou can also find the above list of errors at the "
        "endpoint `/connector-plugins/{connectorType}/config/validate`",
    )


def no_leader(reason: str) -> HttpError:
    """No worker leads at the moment."""
    message = f"Cannot complete request momentarily, as no worker leads the group: {reason}"
    return HttpError(503, 503, message)


def state_failed(reason: object) -> HttpError:
    """Kafka did not take what should be stored."""
    return HttpError(500, 500, f"Failed to store it in Kafka: {reason}")


def not_stopped(name: str) -> HttpError:
    """Offsets are changed only while nobody uses them."""
    return HttpError(
        400,
        400,
        "Connectors must be in the STOPPED state before their offsets can be modified. This can "
        f"be done for the specified connector by issuing a PUT request to the "
        f"/connectors/{name}/stop endpoint",
    )


def not_idle(name: str) -> HttpError:
    """A connector that was stopped is still at its last batch."""
    return HttpError(409, 409, f"Connector {name} is still at its last batch: try again soon")
