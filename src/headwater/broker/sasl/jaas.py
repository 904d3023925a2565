"""Reads the line that Kafka has for users and keys: a login module of Java's, with options."""

from __future__ import annotations

import re

from headwater.config import ConfigError
from headwater.config.errors import HIDDEN

_MODULE = re.compile(r"\s*(?P<module>[\w.$]+)\s+(?P<flag>\w+)\s*(?P<options>.*?)\s*;\s*", re.DOTALL)
_OPTION = re.compile(
    r"([\w.@+-]+)\s*=\s*(?:\"((?:\\.|[^\"\\])*)\"|'((?:\\.|[^'\\])*)'|([^\s\"';]+))\s*"
)
_FLAGS = ("required", "requisite", "sufficient", "optional")
_USER = "user_"


def users_of(setting: str, text: str, module: str) -> dict[str, str]:
    """Return the passwords by user: the options `user_NAME="password"`; raises ConfigError.

    >>> users_of("s", 'a.PlainLoginModule required user_ann="x y";', "PlainLoginModule")
    {'ann': 'x y'}
    """
    options = options_of(setting, text, module, 'user_NAME="PASSWORD"')
    return {
        name.removeprefix(_USER): value for name, value in options.items() if name.startswith(_USER)
    }


def options_of(setting: str, text: str, module: str, form: str) -> dict[str, str]:
    """Return the options of a login module, `form` says which; raises ConfigError."""

    def wrong(reason: str) -> ConfigError:
        return ConfigError(setting, HIDDEN, reason)

    match = _MODULE.fullmatch(text)
    if match is None or match["flag"].lower() not in _FLAGS:
        raise wrong(f"it is not of the form {module} required {form};")
    if match["module"].rpartition(".")[2] != module:
        raise wrong(f"it names {match['module']}, and it must be {module}")
    found: dict[str, str] = {}
    at, options = 0, match["options"]
    while at < len(options):
        option = _OPTION.match(options, at)
        if option is None:
            raise wrong("one of its options is not of the form NAME=VALUE")
        name, *values = option.groups()
        value = next(value for value in values if value is not None)
        found[name] = re.sub(r"\\(.)", r"\1", value)
        at = option.end()
    return found
