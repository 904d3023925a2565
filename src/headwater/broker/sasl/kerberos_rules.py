r"""`sasl.kerberos.principal.to.local.rules`: how a Kerberos principal becomes a user's name.

    RULE:[1:$1](.*admin)s/admin$//,RULE:[2:$1@$0](.*@PLANT\.EXAMPLE)s/@.*//L,DEFAULT

`[n:format]` is for principals of n components and writes their realm (`$0`) and components (`$1`,
`$2`) down; what the pattern in parentheses fits is taken, changed by the `s/from/to/g`, and turned
into lower (L) or upper case (U). DEFAULT takes what is in the default realm. The first rule that
takes a principal decides.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from headwater.config import ConfigError
from headwater.security.java_patterns import JavaPattern

SETTING = "sasl.kerberos.principal.to.local.rules"

_NAME = re.compile(r"(?P<service>[^/@]*)(?:/(?P<host>[^/@]*))?@(?P<realm>[^/@]*)")
_RULE = re.compile(
    r"(?P<default>DEFAULT)|RULE:\[(?P<count>\d+):(?P<format>[^\]]*)\](?:\((?P<match>[^)]*)\))?"
    r"(?P<change>s/(?P<old>[^/]*)/(?P<new>[^/]*)/(?P<all>g)?)?/?(?P<case>[LU])?"
)
_PARAMETER = re.compile(r"\$(\d*)")


class NoMatchingRule(ValueError):  # noqa: N818 - Kafka's name for it
    """No rule makes a user's name of a principal."""


class KerberosRules:
    """The rules of one listener.

    >>> KerberosRules(["RULE:[2:$1]/U", "DEFAULT"], "PLANT").short_name("kafka/h@PLANT")
    'KAFKA'
    """

    def __init__(self, rules: list[str], default_realm: str) -> None:
        self._rules = [_rule(text) for text in rules]
        self._default_realm = default_realm

    def short_name(self, principal: str) -> str:
        """Return a user's name; raises NoMatchingRule."""
        parts = _NAME.fullmatch(principal)
        if parts is None:
            raise NoMatchingRule(f"Malformed Kerberos name: {principal}")
        components = [parts["realm"], parts["service"]]
        if parts["host"] is not None:
            components.append(parts["host"])
        for rule in self._rules:
            name = rule.apply(components, self._default_realm)
            if name is not None:
                if not name:
                    raise NoMatchingRule(f"{rule.text} makes an empty name of {principal}")
                return name
        rules = ", ".join(rule.text for rule in self._rules)
        raise NoMatchingRule(f"No rules apply to {principal}, rules [{rules}] ({SETTING})")


class _Rule(NamedTuple):
    text: str
    length: int | None
    """How many components a principal has; None for DEFAULT."""
    format: str = ""
    match: JavaPattern | None = None
    change: JavaPattern | None = None
    changes_all: bool = False
    case: str = ""

    def apply(self, components: list[str], default_realm: str) -> str | None:
        if self.length is None:
            name = components[1] if components[0] == default_realm else None
        elif self.length != len(components) - 1:
            return None
        else:
            name = self._changed(_PARAMETER.sub(lambda it: components[int(it[1])], self.format))
        if name is not None and re.search("[/@]", name):
            raise NoMatchingRule(
                f"Non-simple name {name} after auth_to_local rule {self.text} ({SETTING})"
            )
        if name is not None and self.case:
            return name.lower() if self.case == "L" else name.upper()
        return name

    def _changed(self, name: str) -> str | None:
        if self.match is not None and not self.match.fits(name):
            return None
        if self.change is None:
            return name
        return (
            self.change.replace_all(name) if self.changes_all else self.change.replace_first(name)
        )


def _rule(text: str) -> _Rule:
    found = _RULE.fullmatch(text)
    if found is None:
        raise ConfigError(
            SETTING,
            text,
            "it is no rule; there are DEFAULT and RULE:[n:string](regexp)s/pattern/replacement/g,"
            " with /L or /U at the end for lower or upper case, and no commas in them",
        )
    if found["default"]:
        return _Rule(text, None)
    count = int(found["count"])
    for number in _PARAMETER.findall(found["format"]):
        if not number or int(number) > count:
            raise ConfigError(
                SETTING, text, f"index {number} after $ is outside of the valid range 0 to {count}"
            )
    try:
        match = None if found["match"] is None else JavaPattern(found["match"])
        change = JavaPattern(found["old"], found["new"]) if found["change"] else None
    except ValueError as error:
        raise ConfigError(SETTING, text, str(error)) from None
    return _Rule(
        text, count, found["format"], match, change, found["all"] is not None, found["case"] or ""
    )
