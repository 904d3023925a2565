"""`ssl.principal.mapping.rules`: how the name in a client's certificate becomes a principal's.

    RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/L,DEFAULT

The first rule that fits the whole name decides. Patterns are Java's regular expressions; what these
have and Python's do not is refused at start.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from headwater.config import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

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


Part = str | int
"""Of a replacement: text, or the group of the pattern that stands there."""


class _Rule(NamedTuple):
    pattern: re.Pattern[str] | None
    """None for the rule DEFAULT."""
    replacement: tuple[Part, ...] = ()
    case: str = ""

    def apply(self, subject: str) -> str | None:
        if self.pattern is None:
            return subject
        if self.pattern.fullmatch(subject) is None:
            return None
        # As Java's replaceAll: a pattern that can match nothing does so once more at the end.
        name = self.pattern.sub(self._expand, subject)
        return name.lower() if self.case == "L" else name.upper() if self.case == "U" else name

    def _expand(self, match: re.Match[str]) -> str:
        return "".join(
            part if isinstance(part, str) else match[part] or "" for part in self.replacement
        )


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
        compiled = re.compile(_to_python(pattern), re.ASCII)
        return _Rule(compiled, tuple(_parts(replacement, compiled)), case)
    except (re.error, ValueError) as error:
        raise ConfigError(_SETTING, text, f"RULE:{pattern}/{replacement}: {error}") from None


# -- replacements


def _parts(replacement: str, pattern: re.Pattern[str]) -> Iterator[Part]:
    r"""Take a replacement in Java's writing apart: `$1`, `${name}`, and `\` before any other."""
    for literal, escaped, digits, name, wrong in re.findall(
        r"([^\\$]+)|\\(.)|\$(\d+)|\$\{(\w+)\}|(.)", replacement, re.DOTALL
    ):
        if literal or escaped:
            yield literal or escaped
        elif digits:
            yield from _numbered(digits, pattern.groups)
        elif name in pattern.groupindex:
            yield pattern.groupindex[name]
        elif name:
            raise ValueError(f"the pattern has no group {name}")
        else:
            raise ValueError(f"a single {wrong} stands for nothing; write \\{wrong}")


def _numbered(digits: str, groups: int) -> Iterator[Part]:
    """As many digits as make the number of a group; if there is no such group, it is text."""
    if groups == 0 and digits[0] != "0":
        raise ValueError(f"the pattern has no groups for ${digits}")
    if int(digits[0]) > groups:
        yield f"${digits}"
        return
    end = 1
    while end < len(digits) and int(digits[: end + 1]) <= groups:
        end += 1
    yield int(digits[:end])
    yield digits[end:]


# -- patterns

_CLASSES = {
    "Lower": "a-z", "Upper": "A-Z", "Alpha": "a-zA-Z", "Digit": "0-9", "Alnum": "a-zA-Z0-9",
    "Punct": r"!-/:-@\[-`{-~", "Graph": "!-~", "Print": " -~", "Blank": r" \t",
    "Cntrl": r"\x00-\x1f\x7f", "XDigit": "0-9a-fA-F", "Space": r"\s", "ASCII": r"\x00-\x7f",
}  # fmt: skip
_TOKEN = re.compile(
    r"\\Q(?P<quoted>.*?)(?:\\E|$)|\\(?P<sign>[pP])\{(?P<name>\w+)\}|\\k<(?P<back>\w+)>"
    r"|\(\?<(?P<group>[a-zA-Z]\w*)>|(?P<escape>\\.)|(?P<open>\[\^?\]?)|(?P<close>\])|(?P<and>&&)"
    r"|(?P<other>.)",
    re.DOTALL,
)
_ESCAPES = {r"\z": r"\Z", r"\Z": r"(?=\n?\Z)", r"\h": r"[ \t\xa0]", r"\e": r"\x1b"}


def _to_python(pattern: str) -> str:
    """Translate a regular expression of Java's; ValueError for what Python has no word for."""
    out: list[str] = []
    in_class = False
    for token in _TOKEN.finditer(pattern):
        if token["name"]:
            out.append(_class(token["sign"], token["name"], in_class=in_class))
        elif token["back"]:
            out.append(f"(?P={token['back']})")
        elif token["group"]:
            out.append(token[0] if in_class else f"(?P<{token['group']}>")
        elif token["escape"]:
            out.append(token[0] if in_class else _ESCAPES.get(token[0], token[0]))
        elif token["open"] or (token["and"] and in_class):
            if in_class:
                raise ValueError("classes within classes are not understood")
            in_class = token["open"] is not None
            out.append(token[0])
        elif token["close"]:
            in_class = False
            out.append(token[0])
        elif token["quoted"] is not None:
            out.append(re.escape(token["quoted"]))
        else:
            out.append(token[0])
    return "".join(out)


def _class(sign: str, name: str, *, in_class: bool) -> str:
    members = _CLASSES.get(name)
    if members is None or (in_class and sign == "P"):
        raise ValueError(f"\\{sign}{{{name}}} is not understood here")
    return members if in_class else f"[{'^' if sign == 'P' else ''}{members}]"
