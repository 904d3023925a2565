"""`headwater doctor`: look at all there is, and say what is wrong and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from headwater.cli.options.connection import connection_options
from headwater.cli.options.listeners import servers_asked_for
from headwater.cli.options.registry import registry_access_options
from headwater.cli.output import json_option, print_json
from headwater.clients.programs import registry_environment
from headwater.clients.registry_access import RegistryAccess

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater.cli.doctor.finding import Finding
    from headwater.clients.connection import Connection

_COLOURS = {"ok": "green", "note": "cyan", "warning": "yellow", "problem": "red"}


@click.command(
    epilog="""\b
Examples:
  headwater doctor
  headwater doctor --bootstrap-server kafka:9092
  headwater doctor --program alerts.py
  headwater doctor --json

The exit code is 0 unless there is a problem; warnings and notes are none."""
)
@registry_access_options
@connection_options
@click.option(
    "--program",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A stream processing program, to see whether it would start.",
)
@click.option(
    "--data",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where a platform keeps its data.  [default: ~/.headwater/up]",
)
@json_option
def doctor(
    connection: Connection,
    registry_properties: dict[str, str],
    program: Path | None,
    data: Path | None,
    as_json: bool,
) -> int:
    """Say what is wrong with this installation, this cluster and this program."""
    from headwater.cli.doctor.cluster import look_at_cluster
    from headwater.cli.doctor.installation import look_at_installation
    from headwater.cli.doctor.platform import look_at_platforms
    from headwater.cli.doctor.registry import look_at_registry
    from headwater.up.settings import default_data

    registry = {**registry_environment(), **registry_properties}
    is_asked_for = servers_asked_for(connection) is not None
    findings = _Findings(as_json=as_json)
    findings.add(look_at_installation(data or default_data()))
    findings.add(look_at_platforms())
    findings.add(look_at_cluster(connection.access, is_asked_for=is_asked_for))
    findings.add(look_at_registry(RegistryAccess.of(registry), is_asked_for=bool(registry)))
    if program is not None:
        from headwater.cli.doctor.program import look_at_program

        findings.add(look_at_program(program, connection.access))
    return findings.end()


class _Findings:
    """Shows each finding as it comes: some take their time."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._all: list[Finding] = []
        self._area = ""

    def add(self, found: Iterable[Finding]) -> None:
        for finding in found:
            self._all.append(finding)
            if not self._as_json:
                self._show(finding)

    def end(self) -> int:
        """Say how it is in all; returns the exit code."""
        count = {level: sum(each.level == level for each in self._all) for level in _COLOURS}
        if self._as_json:
            print_json([each._asdict() for each in self._all])
        elif count["problem"] or count["warning"]:
            click.echo(
                f"\n{_some(count['problem'], 'problem')}, {_some(count['warning'], 'warning')}"
            )
        else:
            click.echo("\nAll is well.")
        return 1 if count["problem"] else 0

    def _show(self, finding: Finding) -> None:
        if finding.area != self._area:
            self._area = finding.area
            click.secho(finding.area, bold=True)
        mark = click.style(f"{finding.level:<8}", fg=_COLOURS[finding.level])
        click.echo(f"  {mark} {finding.what}")
        if finding.advice:
            click.echo(f"           {finding.advice}")


def _some(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
