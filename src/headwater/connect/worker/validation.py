"""Checks a connector's configuration, field by field, and answers as Kafka Connect does."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headwater.config import ConfigDef, ConfigError, ConfigType
from headwater.config.errors import HIDDEN, MissingSettingError
from headwater.config.types import format_value
from headwater.connect.config_providers import resolved
from headwater.connect.connectors.connector import ConnectorType
from headwater.connect.connectors.plugins import plugin as find_plugin
from headwater.connect.converters.converter import converter_for
from headwater.connect.converters.headers import header_converter_for
from headwater.connect.transforms.chain import check_chain
from headwater.connect.worker.connector_spec import converter_settings, definitions, own_values
from headwater.connect.worker.topic_creation import topic_groups

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.connect.connectors.connector import SinkPlugin, SourcePlugin

_COMMON = "Common"
_PARTS = "Transforms and converters"
_OF_A_PART = "A property of a transform, of a predicate, of a converter or of topics to be made."


@dataclass
class ValidatedField:
    """A field's definition, the value that it was given, and what is wrong with it."""

    definition: ConfigDef
    group: str
    order: int
    value: str | None
    errors: list[str] = field(default_factory=list)

    def key_info(self) -> dict[str, Any]:
        """Return the definition as Kafka Connect's ConfigKeyInfo."""
        definition = self.definition
        return {
            "name": definition.name,
            "type": definition.type.name,
            "required": definition.required,
            "default_value": format_value(definition.default),
            "importance": definition.importance.name,
            "documentation": definition.doc,
            "group": self.group,
            "width": "MEDIUM",
            "display_name": definition.name,
            "dependents": [],
            "order": self.order,
        }

    def value_info(self) -> dict[str, Any]:
        """Return the value as Kafka Connect's ConfigValueInfo; a password is not shown."""
        is_shown = self.value is None or self.definition.type is not ConfigType.PASSWORD
        return {
            "name": self.definition.name,
            "value": self.value if is_shown else HIDDEN,
            "recommended_values": _recommended(self.definition),
            "errors": self.errors,
            "visible": True,
        }


@dataclass
class Validation:
    """What was found out about a configuration."""

    class_name: str
    config: Mapping[str, str]
    fields: dict[str, ValidatedField]

    @property
    def errors(self) -> list[str]:
        """All that is wrong."""
        return [error for each in self.fields.values() for error in each.errors]

    def config_infos(self) -> dict[str, Any]:
        """Return Kafka Connect's ConfigInfos."""
        fields = self.fields.values()
        return {
            "name": self.class_name,
            "error_count": len(self.errors),
            "groups": list(dict.fromkeys(each.group for each in fields)),
            "configs": [
                {"definition": each.key_info(), "value": each.value_info()} for each in fields
            ],
        }

    def add(self, name: str, error: str) -> None:
        """Add an error to a field, be it one of a transform or a converter."""
        if name not in self.fields:
            definition = ConfigDef(name, ConfigType.STRING, None, _OF_A_PART)
            value = self.config.get(name)
            self.fields[name] = ValidatedField(definition, _PARTS, len(self.fields) + 1, value)
        self.fields[name].errors.append(error)


def fields_of(found: SourcePlugin | SinkPlugin) -> list[ValidatedField]:
    """Return all properties that a connector of a plug-in has."""
    groups = ((_COMMON, definitions(found.type)), (_title(found), found.definitions))
    return [
        ValidatedField(definition, group, order, None)
        for group, known in groups
        for order, definition in enumerate(known.values(), 1)
    ]


def validated(config: Mapping[str, str], defaults: Mapping[str, str]) -> Validation:
    """Check a configuration; raises ConnectorError where the plug-in is not known."""
    found = find_plugin(config.get("connector.class", ""))
    by_name = {each.definition.name: each for each in fields_of(found)}
    result = Validation(found.class_names[0], config, by_name)
    try:
        properties = resolved(config)
    except ConfigError as failure:
        result.add(failure.name, str(failure))
        return result
    _check_fields(result, config, properties)
    is_source = found.type is ConnectorType.SOURCE
    _check_parts(result, properties, defaults, is_source=is_source)
    if not is_source:
        _check_topics(result, properties)
    if not any(each.errors for each in by_name.values()):
        for error in found.check(own_values(found, properties)):
            result.add(error.name, _invalid(error.name, config.get(error.name), error.message))
    return result


def _check_fields(
    result: Validation, config: Mapping[str, str], properties: Mapping[str, str]
) -> None:
    for name, each in result.fields.items():
        # What is shown has the reference, and never what it stands for.
        each.value = config.get(name, format_value(each.definition.default))
        if name in properties:
            try:
                each.definition.parse(properties[name])
            except ConfigError as failure:
                shown = ConfigError(name, config[name], failure.reason)
                is_secret = each.definition.is_sensitive
                each.errors.append(str(failure if is_secret else shown))
        elif each.definition.required:
            each.errors.append(str(MissingSettingError(name)))


def _check_parts(
    result: Validation,
    properties: Mapping[str, str],
    defaults: Mapping[str, str],
    *,
    is_source: bool,
) -> None:
    for side in ("key", "value"):
        settings = converter_settings(properties, defaults, side)
        try:
            converter_for(settings.class_name, settings.settings, is_key=settings.is_key)
        except ConfigError as failure:
            result.add(failure.name, str(failure))
    headers = converter_settings(properties, defaults, "header")
    try:
        header_converter_for(headers.class_name, headers.settings)
    except ConfigError as failure:
        result.add(failure.name, str(failure))
    _, errors = check_chain(properties, of_source=is_source)
    for error in errors:
        result.add(error.name, str(error))
    if is_source:
        try:
            topic_groups(properties)
        except ConfigError as failure:
            result.add(failure.name, str(failure))


def _check_topics(result: Validation, properties: Mapping[str, str]) -> None:
    topics, regex = properties.get("topics", ""), properties.get("topics.regex", "")
    if bool(topics.strip()) == bool(regex.strip()):
        reason = "give either topics, such as topics=orders, or topics.regex, and not both"
        result.add("topics", _invalid("topics", topics or None, reason))
    dead_letters = properties.get("errors.deadletterqueue.topic.name", "")
    if dead_letters and dead_letters in (each.strip() for each in topics.split(",")):
        name = "errors.deadletterqueue.topic.name"
        result.add(name, _invalid(name, dead_letters, "it is one of the topics that are read"))


def _invalid(name: str, value: str | None, reason: str) -> str:
    return str(ConfigError(name, "null" if value is None else value, reason))


def _title(found: SourcePlugin | SinkPlugin) -> str:
    return found.class_names[-1]


def _recommended(definition: ConfigDef) -> list[str]:
    if definition.type is ConfigType.BOOLEAN:
        return ["true", "false"]
    return ["none", "all"] if definition.name == "errors.tolerance" else []
