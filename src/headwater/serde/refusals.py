"""Why a registry refuses a schema, out of the notation that registries answer in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# {errorType:'...', path:'...', description:'...', remedy:'...'} of ours, and Confluent's with
# additionalInfo; quotes within are not escaped, so each part ends where the next one begins.
_REASON = re.compile(
    r"\{errorType:['\"](?P<kind>\w+)['\"],(?: path:['\"](?P<path>[^'\"]*)['\"],)? "
    r"description:['\"](?P<description>.*?)['\"]"
    r"(?:, additionalInfo:['\"](?P<info>.*?)['\"])?(?:, remedy:['\"](?P<remedy>.*?)['\"])?\}"
    r"(?=, ?\{|\]|$)",
    re.DOTALL,
)
_VERSION = re.compile(r"\{oldSchemaVersion: (\d+)\}")
_MORE = re.compile(r"\{and ((?:at least )?\d+) more\}")
_DETAILS = ", details: ["


def readable_reasons(messages: Iterable[str]) -> list[str]:
    """Return the reasons as sentences; a text in no known notation stays as it is.

    >>> readable_reasons(["{errorType:'TYPE_MISMATCH', description:'a was int'}"])
    ['a was int (TYPE_MISMATCH)']
    """
    given = list(messages)
    found = [_sentence(match) for match in _REASON.finditer(", ".join(given))]
    if not found:
        return [" ".join(message.split()) for message in given]
    everything = " ".join(given)
    if more := _MORE.search(everything):
        found.append(f"and {more[1]} more")
    if version := _VERSION.search(everything):
        found.append(f"compared with version {version[1]}")
    return found


def readable_refusal(message: str) -> str:
    """Return what a registry answered, with its reasons as sentences on lines of their own."""
    said, details, reasons = message.partition(_DETAILS)
    if not details:
        return message
    return "\n  ".join([f"{said}:", *readable_reasons([reasons.removesuffix("]")])])


def _sentence(match: re.Match[str]) -> str:
    where = f" at {match['path']}" if match["path"] else ""
    sentence = f"{match['description'].rstrip('.')} ({match['kind']}{where})"
    return f"{sentence}. {match['remedy'].rstrip('.')}" if match["remedy"] else sentence
