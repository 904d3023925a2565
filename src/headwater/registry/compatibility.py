"""Compatibility levels: which older versions a schema is compared with, and in which direction."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headwater.registry.formats.effort import MOST_DIFFERENCES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.registry.formats import Incompatibility, ParsedSchema

# A message that holds the whole old schema helps nobody once it fills the screen.
MAX_SHOWN = 10 * 1024
MAX_REASONS = 50


class OldVersion(NamedTuple):
    """An earlier version that a new schema is compared with."""

    version: int
    type: str
    schema: ParsedSchema


def check(
    level: str,
    schema: ParsedSchema,
    type_: str,
    older: Sequence[OldVersion],
    *,
    lenient: bool = False,
) -> list[str]:
    """Return why a schema may not follow these versions (oldest first); nothing if it may.

    BACKWARD: the new schema reads what the old ones wrote. FORWARD: the old ones read what the new
    one writes. FULL: both. TRANSITIVE: all versions count, and not the last one only.
    """
    if level == "NONE":
        return []
    for old in reversed(older if level.endswith("_TRANSITIVE") else older[-1:]):
        messages = _compare(level, schema, type_, old, lenient)
        if messages:
            return messages
    return []


def _compare(
    level: str, schema: ParsedSchema, type_: str, old: OldVersion, lenient: bool
) -> list[str]:
    if old.type != type_:
        return [
            f"{{errorType:'SCHEMA_TYPE_CHANGED', description:'the new schema is of type {type_}, "
            f"the old one of type {old.type}', remedy:'Keep the type, or use a new subject'}}",
            f"{{oldSchemaVersion: {old.version}}}",
        ]
    messages: list[str] = []
    if not level.startswith("BACKWARD"):
        messages += _described(old.schema.check_reads(schema, lenient=lenient), new_reads=False)
    if not level.startswith("FORWARD"):
        messages += _described(schema.check_reads(old.schema, lenient=lenient), new_reads=True)
    if messages:
        text = old.schema.text
        shown = text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."
        messages += [f"{{oldSchemaVersion: {old.version}}}", f"{{oldSchema: '{shown}'}}"]
    return messages


def _described(reasons: list[Incompatibility], *, new_reads: bool) -> list[str]:
    described = [reason.describe(reader_is_new=new_reads) for reason in reasons[:MAX_REASONS]]
    left_out = len(reasons) - len(described)
    at_least = "at least " if len(reasons) >= MOST_DIFFERENCES else ""
    return [*described, f"{{and {at_least}{left_out} more}}"] if left_out else described
