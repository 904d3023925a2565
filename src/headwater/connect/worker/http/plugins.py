"""Handlers of kinds of connectors, and of what a configuration would lead to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.connect.connectors.connector import ConnectorError
from headwater.connect.connectors.plugins import PLUGINS
from headwater.connect.connectors.plugins import plugin as find_plugin
from headwater.connect.worker.http.connectors import texts
from headwater.connect.worker.validation import fields_of, validated
from headwater.http.answers import answer
from headwater.http.errors import HttpError

if TYPE_CHECKING:
    from headwater.connect.connectors.connector import SinkPlugin, SourcePlugin
    from headwater.connect.worker.service import ConnectService
    from headwater.http.answers import Answer
    from headwater.http.request import Request


async def list_plugins(_: ConnectService, __: Request) -> Answer:
    """Return the kinds of connectors."""
    return answer(
        [
            {"class": each.class_names[0], "type": str(each.type), "version": each.version}
            for each in PLUGINS
        ]
    )


async def get_plugin_config(_: ConnectService, request: Request) -> Answer:
    """Return the properties of a kind of connector."""
    found = _plugin(request.parameters["plugin"])
    return answer([each.key_info() for each in fields_of(found)])


async def validate_config(service: ConnectService, request: Request) -> Answer:
    """Check a configuration, field by field."""
    config = texts(request.decode(dict[str, Any]))
    found = _plugin(request.parameters["plugin"])
    given = config.get("connector.class", found.class_names[0])
    if given not in found.class_names:
        message = (
            f"Included connector type {given} does not match request type "
            f"{request.parameters['plugin']}"
        )
        raise HttpError(400, 400, message)
    named = {**config, "connector.class": given}
    return answer(validated(named, service.config.converters).config_infos())


def _plugin(name: str) -> SourcePlugin | SinkPlugin:
    try:
        return find_plugin(name)
    except ConnectorError as failure:
        raise HttpError(404, 404, f"Unknown plugin {name}: {failure}") from None
