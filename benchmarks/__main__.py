"""`make bench`: measure, print the table, write docs/benchmarks.md with its plot."""

from __future__ import annotations

import shutil
import sys
from functools import partial

import click

from benchmarks import apache_kafka, broker, machine, registry, report
from benchmarks.results import Results
from benchmarks.targets import HEADWATER, HEADWATER_OS, KAFKA


@click.command()
@click.option("--rounds", default=3, help="How often each broker is measured.  [default: 3]")
@click.option("--no-kafka", is_flag=True, help="Measure Headwater alone.")
@click.option("--no-write", is_flag=True, help="Print the table and leave docs/ as it is.")
def main(rounds: int, no_kafka: bool, no_write: bool) -> None:
    """Measure the broker side by side with Apache Kafka, and the schema registry."""
    if shutil.which("kcat") is None:
        sys.exit("The benchmarks need kcat (Debian and Ubuntu: apt install kcat).")
    targets = [HEADWATER, HEADWATER_OS]
    lacking = None if no_kafka else apache_kafka.missing()
    if lacking is not None:
        click.echo(f"Apache Kafka is left out: {lacking}.", err=True)
    elif not no_kafka:
        targets.append(KAFKA)
    described = machine.describe()
    results = Results()
    note = partial(click.echo, err=True)
    broker.measure(targets, rounds, results, note)
    registry.measure(rounds, results, note)
    described["load after the run"] = f"{machine.load():.1f}, of which the benchmark has its part"
    report.print_table(results.rows())
    for name, value in described.items():
        click.echo(f"{name}: {value}")
    if not no_write:
        report.write(results, described, rounds, apache_kafka.VERSION)
        click.echo(f"Written to {report.PAGE.relative_to(report.ROOT)}.")


main()
