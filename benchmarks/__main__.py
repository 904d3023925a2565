"""`make bench`: measure, print the tables, write docs/benchmarks.md with its plots."""

from __future__ import annotations

import shutil
import sys
from functools import partial

import click

from benchmarks import apache_kafka, machine, report
from benchmarks.results import Results
from benchmarks.sections import SECTIONS


@click.command()
@click.argument("sections", nargs=-1, type=click.Choice(list(SECTIONS)))
@click.option("--rounds", default=3, help="How often each is measured.  [default: 3]")
@click.option("--no-write", is_flag=True, help="Print the tables and leave docs/ as it is.")
def main(sections: tuple[str, ...], rounds: int, no_write: bool) -> None:
    """Measure Headwater side by side with what people would use instead: all, or some SECTIONS."""
    lacking = apache_kafka.missing()
    if lacking is not None:
        sys.exit(f"The benchmarks need Apache Kafka: {lacking}.")
    if shutil.which("kcat") is None:
        sys.exit("The benchmarks need kcat (Debian and Ubuntu: apt install kcat).")
    for name in sections or SECTIONS:
        section = SECTIONS[name]
        described = machine.describe()
        results = Results()
        section.measure(rounds, results, partial(click.echo, err=True))
        described["load after the run"] = (
            f"{machine.load():.1f}, of which the benchmark has its part"
        )
        report.print_table(section, results.rows())
        for label, value in described.items():
            click.echo(f"{label}: {value}")
        if not no_write:
            report.write(section, results, described, rounds)
            click.echo(f"Written to {report.PAGE.relative_to(report.ROOT)}.")


main()
