"""Regular expressions."""

from __future__ import annotations

import re

from headwater.sql.server.rows.functions.java_regexps import Found, JavaPattern, pattern
from headwater.sql.server.rows.functions.row_call import CallMaker, checked, strict

_REFERENCE = re.compile(r"\\(.)|\$\{([a-zA-Z][a-zA-Z0-9]*)\}|\$(\d+)|([\\$])", re.DOTALL)


def _extract(wanted: str, text: str, group: int = 0) -> str | None:
    compiled = pattern(wanted)
    found = compiled.search(text)
    if found is None or not 0 <= group <= compiled.groups:
        return None
    return found.groups[group]


def _extract_all(wanted: str, text: str, group: int = 0) -> list[str | None] | None:
    compiled = pattern(wanted)
    if not 0 <= group <= compiled.groups:
        return None
    return [found.groups[group] for found in compiled.find_all(text)]


def _replaced(text: str, wanted: str, replacement: str) -> str:
    compiled, parts, start = pattern(wanted), [], 0
    for found in compiled.find_all(text):
        parts += [text[start : found.start], _expanded(compiled, found, replacement)]
        start = found.end
    return "".join([*parts, text[start:]])


def _expanded(compiled: JavaPattern, found: Found, replacement: str) -> str:
    """Return what stands for a match: `$1` is a group, `\\$` a dollar."""

    def part(reference: re.Match[str]) -> str:
        escaped, name, digits, alone = reference.groups()
        if alone is not None:
            raise ValueError("nothing is escaped, or no group is named")
        if escaped is not None:
            return str(escaped)
        if name is not None:
            if name not in compiled.names:
                raise ValueError(f"there is no group {name}")
            return found.groups[compiled.names[name]] or ""
        length = 1
        while length < len(digits) and int(digits[: length + 1]) <= compiled.groups:
            length += 1
        group = int(digits[:length])
        if group > compiled.groups:
            raise ValueError(f"there is no group {group}")
        return (found.groups[group] or "") + digits[length:]

    return _REFERENCE.sub(part, replacement)


def _split(text: str, wanted: str) -> list[str]:
    if not wanted and text:
        return list(text)
    parts, start = [], 0
    for found in pattern(wanted).find_all(text):
        if found.end == 0:
            continue
        parts.append(text[start : found.start])
        start = found.end
    return [*parts, text[start:]]


FUNCTIONS: dict[str, CallMaker] = {
    "REGEXP_EXTRACT": checked(0, pattern, strict(_extract)),
    "REGEXP_EXTRACT_ALL": checked(0, pattern, strict(_extract_all)),
    "REGEXP_REPLACE": checked(1, pattern, strict(_replaced)),
    "REGEXP_SPLIT_TO_ARRAY": checked(1, pattern, strict(_split)),
}
