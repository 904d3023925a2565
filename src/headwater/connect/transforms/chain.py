"""A connector's transforms in their order, each for the records that its predicate is for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.config import ConfigDef, ConfigError, ConfigType, Definitions, Values
from headwater.connect.predicates.all_predicates import predicate_class
from headwater.connect.transforms.all_transforms import transform_class
from headwater.connect.transforms.conditional import conditional
from headwater.connect.transforms.insert_field import InsertField
from headwater.connect.transforms.transform import TransformError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.connect.data.shape import Shape
    from headwater.connect.transforms.transform import Step, Transform

CHAIN_SETTINGS = Definitions(
    "connector",
    ConfigDef("transforms", ConfigType.LIST, (), "The names of the transforms, in their order."),
    ConfigDef("predicates", ConfigType.LIST, (), "The names of the predicates."),
    open_prefixes=("",),
)
_OF_EVERY_TRANSFORM = ("type", "predicate", "negate")


@dataclass(frozen=True)
class Link:
    """A transform under its name, and the condition of the records that it is for."""

    name: str
    transform: Transform
    condition: str | None = None


@dataclass(frozen=True)
class Chain:
    """Transforms, one after the other."""

    links: Sequence[Link] = ()

    def compile(self, shape: Shape) -> tuple[list[Step], Shape]:
        """Return the steps, and the shape after the last one; raises TransformError."""
        steps: list[Step] = []
        for link in self.links:
            try:
                step, made = link.transform.compile(shape)
                if link.condition is not None:
                    step, made = conditional(link.condition, step, shape, made)
            except TransformError as refusal:
                raise TransformError(f"transforms.{link.name}: {refusal}") from None
            steps.append(step)
            shape = made
        return steps, shape


def read_chain(config: Mapping[str, str], *, of_source: bool = False) -> Chain:
    """Read a connector's transforms and predicates; raises ConfigError for the first wrong one."""
    chain, errors = check_chain(config, of_source=of_source)
    if errors:
        raise errors[0]
    return chain


def check_chain(
    config: Mapping[str, str], *, of_source: bool = False
) -> tuple[Chain, list[ConfigError]]:
    """Read what can be read of a connector's transforms, and return all that is wrong."""
    errors: list[ConfigError] = []
    conditions: dict[str, str] = {}
    for name in _names(config, "predicates"):
        prefix = f"predicates.{name}."
        try:
            found = predicate_class(_class_name(config, prefix), f"{prefix}type")
            values = _values(config, prefix, found.definitions, ("type",), errors)
            conditions[name] = found.configured(values).condition()
        except ConfigError as error:
            errors.append(_placed(error, prefix))
    links: list[Link] = []
    for name in _names(config, "transforms"):
        try:
            link = _link(name, config, conditions, errors)
            if (
                of_source
                and isinstance(link.transform, InsertField)
                and link.transform.needs_offset
            ):
                raise ConfigError("offset.field", None, "only records of sinks have an offset yet")
            links.append(link)
        except ConfigError as error:
            errors.append(_placed(error, f"transforms.{name}."))
    return Chain(tuple(links)), errors


def _link(
    name: str, config: Mapping[str, str], conditions: Mapping[str, str], errors: list[ConfigError]
) -> Link:
    prefix = f"transforms.{name}."
    class_name = _class_name(config, prefix)
    found = transform_class(class_name, f"{prefix}type")
    values = _values(config, prefix, found.definitions, _OF_EVERY_TRANSFORM, errors)
    transform = found.configured(class_name, values)
    predicate = config.get(f"{prefix}predicate")
    if predicate is None:
        return Link(name, transform)
    if predicate not in conditions:
        names = ", ".join(_names(config, "predicates"))
        reason = f"there is no predicate of that name; predicates is {names or 'not given'}"
        raise ConfigError("predicate", predicate, reason)
    negate = ConfigDef("negate", ConfigType.BOOLEAN, False, "").parse(
        config.get(f"{prefix}negate", "false")
    )
    condition = conditions[predicate]
    return Link(name, transform, f"not ({condition})" if negate else condition)


def _names(config: Mapping[str, str], setting: str) -> tuple[str, ...]:
    given = {setting: config[setting]} if setting in config else {}
    return tuple(name for name in Values(CHAIN_SETTINGS, given).words(setting) if name)


def _class_name(config: Mapping[str, str], prefix: str) -> str:
    name = config.get(f"{prefix}type")
    if not name:
        raise ConfigError(f"{prefix}type", None, "it says which class this is, so it must be given")
    return name.strip()


def _values(
    config: Mapping[str, str],
    prefix: str,
    definitions: Definitions,
    others: tuple[str, ...],
    errors: list[ConfigError],
) -> Values:
    """Read the settings behind a prefix; notes all that are wrong, and raises the last of them."""
    given = {
        name.removeprefix(prefix): text
        for name, text in config.items()
        if name.startswith(prefix) and name.removeprefix(prefix) not in others
    }
    wrong: list[ConfigError] = [*definitions.missing(given)]
    for name, text in given.items():
        try:
            definitions.of(name).parse(text)
        except ConfigError as error:
            wrong.append(error)
    if wrong:
        errors.extend(_placed(error, prefix) for error in wrong[:-1])
        raise wrong[-1]
    return Values(definitions, given)


def _placed(error: ConfigError, prefix: str) -> ConfigError:
    """Return the error under the setting's full name."""
    if error.name.startswith(prefix):
        return error
    return ConfigError(f"{prefix}{error.name}", error.value, error.reason)
