"""The three files of ksqlDB's test runner: statements, records to give, records to expect."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from headwater.testing.sql.comparison import Comparison, differences
from headwater.testing.sql.driver import SqlDriver

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


class TestFileError(Exception):
    """A file that is not what the test runner takes; the message says which and why."""

    __test__ = False


def run_files(statements: Path, inputs: Path | None, outputs: Path) -> list[str]:
    """Run statements over the records of a file; return where the results differ.

    Raises TestFileError, and SqlError for a statement that is refused.
    """
    given = [] if inputs is None else _records(inputs, "inputs")
    expected = _records(outputs, "outputs")
    with SqlDriver(_text(statements)) as driver:
        for number, record in enumerate(given, 1):
            try:
                driver.pipe(record)
            except ValueError as wrong:
                raise TestFileError(f"{inputs}: record {number}: {wrong}") from None
        comparison = Comparison(is_by_key=driver.is_by_key, is_exact=True, has_defaults=False)
        try:
            return compared(driver, expected, lambda _: comparison)
        except ValueError as wrong:
            raise TestFileError(f"{outputs}: {wrong}") from None


def compared(
    driver: SqlDriver, expected: Sequence[dict[str, Any]], how: Callable[[str], Comparison]
) -> list[str]:
    """Return where the records of each topic that is expected differ."""
    return [
        difference
        for topic in dict.fromkeys(record["topic"] for record in expected)
        for difference in differences(
            [record for record in expected if record["topic"] == topic],
            driver.records(topic),
            driver.source_of(topic),
            how(topic),
        )
    ]


def _records(path: Path, name: str) -> list[dict[str, Any]]:
    try:
        content = json.loads(_text(path))
    except ValueError as wrong:
        raise TestFileError(f"{path} is no JSON: {wrong}") from None
    found = content.get(name) if isinstance(content, dict) else None
    if not isinstance(found, list) or not found:
        raise TestFileError(f'{path} has no records: it is to be {{"{name}": [...]}}')
    for number, record in enumerate(found, 1):
        if not isinstance(record, dict) or not isinstance(record.get("topic"), str):
            raise TestFileError(f"{path}: record {number} has no topic")
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as wrong:
        raise TestFileError(f"cannot read {path}: {wrong}") from None
