"""What `headwater sql test` prints, and its exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from headwater.cli.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_FAILED = 1


def test_files(statements: Path, inputs: Path | None, outputs: Path) -> int:
    """Run the three files of ksqlDB's test runner; return the exit code."""
    from headwater.sql.errors import SqlError
    from headwater.testing.sql.json_files import TestFileError, run_files
    from headwater.testing.topology_failed import TopologyFailed

    try:
        found = run_files(statements, inputs, outputs)
    except (SqlError, TestFileError, TopologyFailed) as wrong:
        raise CommandError(str(wrong)) from None
    if not found:
        click.echo("\t >>> Test passed!")
        return 0
    for difference in found:
        click.echo(f"\t >>>>> Test failed: {difference}")
    return _FAILED


def test_paths(paths: Iterable[Path]) -> int:
    """Run all tests of files of SQL; return the exit code."""
    from headwater.testing.sql.sql_files import read_tests, run_test

    passed = failed = 0
    for path in _files(paths):
        for test in read_tests(path.read_text(encoding="utf-8")):
            why = run_test(test)
            click.echo(f"{path}: {test.name}: {'passed' if why is None else f'FAILED: {why}'}")
            passed, failed = passed + (why is None), failed + (why is not None)
    if not passed + failed:
        raise CommandError("there are no tests: each begins with a line --@test: NAME")
    click.echo(f"{passed} passed, {failed} failed")
    return _FAILED if failed else 0


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        yield from sorted(path.rglob("*.sql")) if path.is_dir() else [path]
