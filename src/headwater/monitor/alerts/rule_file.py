"""Rules in a TOML file, checked when it is read.

[[rule]]
name = "BillingIsLate"
when = "group-lag-seconds"
group = "billing"
above = 60
for = "5m"
severity = "critical"
"""

from __future__ import annotations

import difflib
import re
import tomllib
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

from headwater.monitor.alerts.conditions import CONDITIONS
from headwater.monitor.alerts.rules import SEVERITIES, Rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from headwater.monitor.alerts.conditions.condition import Condition

_COMMON = ("name", "when", "for", "severity")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_PATTERNS = ("address", "group", "topic")


class RuleFileError(ValueError):
    """A rule file cannot be used; the message says which rule, and what is wrong with it."""


def read_rules(path: Path) -> tuple[Rule, ...]:
    """Return a file's rules; raises RuleFileError, and OSError if it cannot be read."""
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as failure:
        raise RuleFileError(f"{path}: {failure}") from None
    tables = document.get("rule")
    if not isinstance(tables, list) or set(document) != {"rule"}:
        raise RuleFileError(f"{path}: rules stand in tables [[rule]], and nothing else does")
    rules: list[Rule] = []
    for number, table in enumerate(tables, 1):
        name = table.get("name")
        where = f"{path}, rule {number}" + (f" ({name})" if isinstance(name, str) else "")
        try:
            rules.append(_rule(table))
        except ValueError as failure:
            raise RuleFileError(f"{where}: {failure}") from None
        if any(rule.name == rules[-1].name for rule in rules[:-1]):
            raise RuleFileError(f"{where}: another rule has the same name")
    return tuple(rules)


def seconds_of(text: str) -> float:
    """Return a length of time in Prometheus' notation.

    >>> seconds_of("1h30m"), seconds_of("45s")
    (5400.0, 45.0)
    """
    parts = re.findall(r"(\d+)([smhd])", text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError(f"'{text}' is no length of time; write it as 90s, 5m, 1h30m or 2d")
    return float(sum(int(number) * _UNITS[unit] for number, unit in parts))


def _rule(table: Mapping[str, Any]) -> Rule:
    name, severity = _text(table, "name"), _text(table, "severity", "warning")
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise ValueError(f"name is '{name}'; it may have letters, digits and _ only")
    if severity not in SEVERITIES:
        raise ValueError(f"severity is '{severity}'; it may be {', '.join(SEVERITIES)}")
    return Rule(name, _condition(table), seconds_of(_text(table, "for", "0s")), severity)


def _condition(table: Mapping[str, Any]) -> Condition:
    when = _text(table, "when")
    kind = CONDITIONS.get(when)
    if kind is None:
        raise ValueError(
            f"when is '{when}'{_meant(when, CONDITIONS)}; it may be {_list(CONDITIONS)}"
        )
    known = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
    for key in table:
        if key not in known and key not in _COMMON:
            raise ValueError(f"{when} has no '{key}'{_meant(key, known)}; it has {_list(known)}")
    given = {key: _value(key, table[key]) for key in known if key in table}
    missing = [n for n, field in known.items() if field.default is MISSING and n not in given]
    if missing:
        raise ValueError(f"{when} needs {_list(missing)}")
    return kind(**given)


def _value(key: str, value: Any) -> Any:
    if key in _PATTERNS:
        try:
            re.compile(value)
        except (re.error, TypeError) as failure:
            raise ValueError(f"{key} is no regular expression: {failure}") from None
    elif key == "status":
        value = (value,) if isinstance(value, str) else tuple(value)
    elif key == "seconds" and isinstance(value, str):
        value = seconds_of(value)
    elif not isinstance(value, int | float) or isinstance(value, bool):
        raise ValueError(f"{key} is {value!r}; it has to be a number")
    return value


def _text(table: Mapping[str, Any], key: str, default: str | None = None) -> str:
    value = table.get(key, default)
    if value is None:
        raise ValueError(f"it has no '{key}'")
    if not isinstance(value, str):
        raise ValueError(f"{key} is {value!r}; it has to be a text in quotes")
    return value


def _meant(given: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(given, list(known), n=1)
    return f", did you mean {close[0]}?" if close else ""


def _list(names: Iterable[str]) -> str:
    return ", ".join(names)
