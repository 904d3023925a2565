"""A connector's configuration as a form: what its plug-in takes, as `config/validate` tells it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

# What the page asks for by itself.
NAME, CLASS = "name", "connector.class"
_HIDDEN = "[hidden]"
_SECRETS = ("password", "secret", "token", "credential", "jaas", "private.key", "api.key")


@dataclass(frozen=True)
class Field:
    """One property of a configuration."""

    name: str
    label: str
    type: str
    group: str
    documentation: str
    is_required: bool
    default: str
    importance: str
    choices: tuple[str, ...]
    errors: tuple[str, ...]

    @property
    def is_main(self) -> bool:
        """Whether most people want to see it."""
        return self.is_required or self.importance == "HIGH" or bool(self.errors)

    @property
    def is_secret(self) -> bool:
        """Whether nobody should look over one's shoulder."""
        return self.type == "PASSWORD"


def fields_of(infos: Mapping[str, Any]) -> list[Field]:
    """Return the properties of Connect's ConfigInfos, in its groups' order."""
    order = {group: position for position, group in enumerate(infos.get("groups") or ())}
    found = [_field(each["definition"], each["value"]) for each in infos["configs"]]
    return sorted(
        (each for each in found if each is not None and each.name not in (NAME, CLASS)),
        key=lambda each: order.get(each.group, len(order)),
    )


def errors_of(infos: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return what is wrong, by property."""
    return {
        each["value"]["name"]: list(each["value"]["errors"])
        for each in infos["configs"]
        if each["value"]["errors"]
    }


def config_in(text: str) -> dict[str, str]:
    """Read a configuration from JSON, as Connect takes it or as it is listed; raises ValueError.

    >>> config_in('{"name": "a", "config": {"tasks.max": 1, "b": true}}')
    {'name': 'a', 'tasks.max': '1', 'b': 'true'}
    """
    try:
        value = json.loads(text)
    except ValueError as failure:
        raise ValueError(f"the configuration is no JSON: {failure}") from None
    if not isinstance(value, dict):
        raise ValueError("the configuration is no JSON object")
    inner = value.get("config")
    if isinstance(inner, dict):
        value = {**({NAME: value[NAME]} if NAME in value else {}), **inner}
    return {str(name): _text(each) for name, each in value.items() if each is not None}


def readable(config: Mapping[str, str]) -> str:
    """Return a configuration as JSON on many lines."""
    return json.dumps(dict(config), indent=2, ensure_ascii=False)


def shown(config: Mapping[str, str]) -> dict[str, str]:
    """Return a configuration without its secrets; references to secrets are none.

    >>> shown({"connection.password": "secret", "sasl.password": "${env:PASSWORD}"})
    {'connection.password': '[hidden]', 'sasl.password': '${env:PASSWORD}'}
    """
    return {name: _HIDDEN if _is_secret(name, value) else value for name, value in config.items()}


def without_hidden(config: Mapping[str, str], before: Mapping[str, str]) -> dict[str, str]:
    """Return a configuration with the secrets that were hidden, as they were before."""
    return {
        name: before[name] if value == _HIDDEN and name in before else value
        for name, value in config.items()
    }


def _is_secret(name: str, value: str) -> bool:
    is_reference = value.startswith("${") and value.endswith("}")
    return not is_reference and any(each in name.lower() for each in _SECRETS)


def _field(definition: Mapping[str, Any], value: Mapping[str, Any]) -> Field | None:
    if definition is None or not value.get("visible", True):
        return None
    return Field(
        definition["name"],
        definition.get("display_name") or definition["name"],
        definition["type"],
        definition.get("group") or "Further",
        definition.get("documentation") or "",
        # Some say only when they are asked that nothing is not enough.
        bool(definition["required"]) or (bool(value["errors"]) and not value.get("value")),
        _text(definition.get("default_value")) if definition.get("default_value") else "",
        definition.get("importance") or "LOW",
        tuple(map(str, value.get("recommended_values") or ())),
        tuple(value["errors"]),
    )


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
