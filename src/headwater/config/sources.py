"""Where settings are given: in a file, in the environment, on the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from headwater.config.given import Entry, Given

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from headwater.config.definitions import Definitions


def from_file(path: Path, definitions: Definitions, other_tables: Collection[str] = ()) -> Given:
    """Read a properties file, or a `.toml` file with Kafka's names or a table for the service.

    `other_tables` are the tables of headwater.toml that belong to other services. Raises ValueError
    with the file's name for one that cannot be read as what its ending says it is.
    """
    try:
        text = path.read_text("utf-8")
        if path.suffix.lower() == ".toml":
            return _from_toml(text, str(path), definitions, other_tables)
    except ValueError as failure:  # wrong TOML, wrong UTF-8 or a value of a kind that none has
        raise ValueError(f"{path}: {failure}") from None
    from headwater.config.properties import properties_with_lines

    return Given(
        {
            name: Entry(found.text, f"{path}, line {found.line}")
            for name, found in properties_with_lines(text).items()
        }
    )


def from_environment(environment: Mapping[str, str], definitions: Definitions) -> Given:
    """Take the service's settings from variables such as HEADWATER_BROKER_NUM_PARTITIONS.

    Others with that beginning are left alone: Kubernetes, for one, makes such for every service.
    Settings that no variable can name are in one for all of them, `others_variable`. Raises
    ValueError if that is not what it has to be.
    """
    return others_from_environment(environment, definitions.service) | Given(
        {
            name: Entry(environment[variable], f"environment variable {variable}")
            for variable, name in _variables(environment, definitions).items()
            if name is not None
        }
    )


def others_from_environment(environment: Mapping[str, str], service: str) -> Given:
    """Take those that no variable of their own can name; raises ValueError as above."""
    variable = others_variable(service)
    return Given(
        {
            name: Entry(text, f"environment variable {variable}")
            for name, text in _others(environment, variable).items()
        }
    )


def from_options(settings: Mapping[str, str], option: str) -> Given:
    """Take settings from the command line, where `option` gave them."""
    return Given({name: Entry(text, option) for name, text in settings.items()})


def variable_of(service: str, name: str) -> str:
    """Return the environment variable that sets a service's setting.

    >>> variable_of("broker", "num.partitions")
    'HEADWATER_BROKER_NUM_PARTITIONS'
    """
    return _prefix(service) + name.upper().replace(".", "_").replace("-", "_")


def has_variable(name: str) -> bool:
    """Whether a variable can name this setting, whose dots it has as `_`.

    All of Kafka's and Confluent's can be named; a client library may have others.
    """
    return name == name.lower() and not set(name) & {"_", "-"}


def others_variable(service: str) -> str:
    """Return the variable that has, as a JSON object, what no variable of its own can name.

    Its beginning is that of no service: none of them takes it for a setting.
    """
    return f"HEADWATER_OTHERS_{service.upper()}"


def as_variables(service: str, settings: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that hand settings to a service; the inverse of `from_environment`.

    Not as options: every user of the machine sees those, and some settings are passwords.

    >>> as_variables("rest", {"port": "80", "client.a_b": "c"})
    {'HEADWATER_REST_PORT': '80', 'HEADWATER_OTHERS_REST': '{"client.a_b": "c"}'}
    """
    named = {variable_of(service, n): text for n, text in settings.items() if has_variable(n)}
    others = {name: text for name, text in settings.items() if not has_variable(name)}
    return {**named, **({others_variable(service): json.dumps(others)} if others else {})}


def misspelt_variables(environment: Mapping[str, str], definitions: Definitions) -> dict[str, str]:
    """Return the variables that set nothing and look like one that would, with that one."""
    from difflib import get_close_matches

    unknown = [v for v, name in _variables(environment, definitions).items() if name is None]
    if not unknown:
        return {}
    known = [variable_of(definitions.service, name) for name in definitions]
    prefix = _prefix(definitions.service)
    names = [each.removeprefix(prefix) for each in known]
    return {
        variable: prefix + close[0]
        for variable in unknown
        if (close := get_close_matches(variable.removeprefix(prefix), names, n=1, cutoff=0.85))
    }


def _others(environment: Mapping[str, str], variable: str) -> dict[str, str]:
    text = environment.get(variable)
    if text is None:
        return {}
    try:
        others = json.loads(text)
    except ValueError:
        others = None
    # What is in it is not shown: it may be a password.
    if not isinstance(others, dict) or not all(isinstance(each, str) for each in others.values()):
        raise ValueError(f"environment variable {variable}: it has to be a JSON object of strings")
    return others


def _prefix(service: str) -> str:
    return f"HEADWATER_{service.upper()}_"


def _variables(environment: Mapping[str, str], definitions: Definitions) -> dict[str, str | None]:
    """Return the variables that start as the service's do, with the settings that they mean."""
    found = [each for each in environment if each.startswith(_prefix(definitions.service))]
    if not found:  # the usual case, which should not have to go through all settings
        return {}
    names = {variable_of(definitions.service, name): name for name in definitions}
    return {each: names.get(each) or _open_name(each, definitions) for each in sorted(found)}


def _open_name(variable: str, definitions: Definitions) -> str | None:
    rest = variable.removeprefix(_prefix(definitions.service)).lower().replace("_", ".")
    return rest if rest.startswith(definitions.open_prefixes) else None


def _from_toml(
    text: str, file: str, definitions: Definitions, other_tables: Collection[str]
) -> Given:
    from headwater.config.toml import parse_toml

    service = definitions.service
    entries: dict[str, Entry] = {}
    for name, value in parse_toml(text).items():
        table, _, setting = name.partition(".")
        # A name may start as the service is called, as broker.id does.
        if table == service and setting and name not in definitions:
            entries[setting] = Entry(value, f"{file}, [{service}]")
        elif table == service or table not in other_tables:
            entries[name] = Entry(value, file)
    return Given(entries)
