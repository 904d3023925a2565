"""`ssl.principal.mapping.rules`: how the name in a client's certificate becomes a principal's.

    RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/L,DEFAULT

The first rule that fits the whole name decides. Patterns are Java's regular expressions; what these
have and Python's do not is refused at start.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from headwater.config import ConfigError
from headwater.security.java_patterns import JavaPattern

_SETTING = "ssl.principal.mapping.rules"


class NoMatchingRule(ValueError):  # noqa: N818 - Kafka's name for it
    """No rule fits a name."""


class PrincipalRules:
    """The rules of one listener.

    >>> PrincipalRules("RULE:^CN=([a-z]+).*$/$1/U, DEFAULT").apply("CN=ann,O=plant")
    'ANN'
    """

    def __init__(self, text: str) -> None:
        self._rules = _parse(text)

    def apply(self, subject: str) -> str:
        """Return a principal's name; raises NoMatchingRule."""
        for rule in self._rules:
            name = rule.apply(subject)
            if name is not None:
                return name
        raise NoMatchingRule(f"no rule of {_SETTING} fits the name in its certificate, {subject}")


class _Rule(NamedTuple):
    pattern: JavaPattern | None
    """None for the rule DEFAULT."""
    case: str = ""

    def apply(self, subject: str) -> str | None:
        if self.pattern is None:
            return subject
        if not self.pattern.fits(subject):
            return None
        name = self.pattern.replace_all(subject)
        return name.lower() if self.case == "L" else name.upper() if self.case == "U" else name


_RULE = re.compile(
    r"\s*(?:(DEFAULT)|RULE:((?:\\.|[^\\/])*)/((?:\\.|[^\\/])*)/([LU]?))\s*(?:,|$)", re.DOTALL
)


def _parse(text: str) -> list[_Rule]:
    rules = []
    rest = text.strip()
    while rest:
        match = _RULE.match(rest)
        if match is None:
            raise ConfigError(
                _SETTING,
                text,
                f"{rest} is no rule; there are DEFAULT and RULE:pattern/replacement/, with L or U"
                " at the end for lower or upper case",
            )
        default, pattern, replacement, case = match.groups()
        rules.append(_Rule(None) if default else _rule(text, pattern, replacement, case))
        rest = rest[match.end() :].strip()
    if not rules:
        raise ConfigError(_SETTING, text, "there is no rule in it")
    return rules


def _rule(text: str, pattern: str, replacement: str, case: str) -> _Rule:
    try:
        return _Rule(JavaPattern(pattern, replacement), case)
    except ValueError as error:
        raise ConfigError(_SETTING, text, f"RULE:{pattern}/{replacement}: {error}") from None
