"""`make bench`: measure, print the tables, write docs/benchmarks.md with its plots."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from functools import partial

import click

from benchmarks import apache_kafka, connect, machine, report, sql
from benchmarks.pipeline import measure as pipeline
from benchmarks.pipeline.workload import RECORDS_VARIABLE
from benchmarks.results import Results
from benchmarks.sections import SECTIONS

# What tells a section how many records it has.
_SIZED = {pipeline.SECTION: RECORDS_VARIABLE, connect.SECTION: connect.RECORDS_VARIABLE}


@click.command()
@click.argument("sections", nargs=-1, type=click.Choice(list(SECTIONS)))
@click.option("--rounds", default=3, help="How often each is measured.  [default: 3]")
@click.option(
    "--rows",
    "rows",
    multiple=True,
    metavar="TEXT",
    help="Of one section, only the rows with this text; others stay as they were measured.",
)
@click.option(
    "--records",
    type=click.IntRange(min=1),
    help="How many records the pipeline processes (by default 10000000), or Connect (1000000).",
)
@click.option(
    "--queries",
    type=click.IntRange(min=1),
    help="How many queries the SQL server runs at once.  [default: 50]",
)
@click.option("--no-write", is_flag=True, help="Print the tables and leave docs/ as it is.")
def main(
    sections: tuple[str, ...],
    rounds: int,
    rows: tuple[str, ...],
    records: int | None,
    queries: int | None,
    no_write: bool,
) -> None:
    """Measure Headwater side by side with what people would use instead: all, or some SECTIONS.

    `tools --rows "10,000 bytes, none" --rows latency` measures some rows of Kafka's own tools,
    `pipeline --rows filter --records 1000000` two jobs with a tenth of the records.
    """
    in_rows = [name for name, section in SECTIONS.items() if section.measure_rows is not None]
    if rows and (len(sections) != 1 or sections[0] not in in_rows):
        raise click.UsageError(f"--rows is for one of these sections: {', '.join(in_rows)}.")
    if records is not None:
        variable = _SIZED.get(sections[0]) if len(sections) == 1 else None
        if variable is None:
            raise click.UsageError(f"--records is for one of these sections: {', '.join(_SIZED)}.")
        os.environ[variable] = str(records)
    if queries is not None:
        if sections != (sql.SECTION,):
            raise click.UsageError(f"--queries is for the section {sql.SECTION} alone.")
        os.environ[sql.QUERIES_VARIABLE] = str(queries)
    # As Ctrl-C: brokers, Spark and peers are ended before this is.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    lacking = apache_kafka.missing()
    if lacking is not None:
        sys.exit(f"The benchmarks need Apache Kafka: {lacking}.")
    if shutil.which("kcat") is None:
        sys.exit("The benchmarks need kcat (Debian and Ubuntu: apt install kcat).")
    for name in sections or SECTIONS:
        section = SECTIONS[name]
        described = machine.describe()
        if records is not None:
            described["records"] = f"{records:,}"
        results = Results()
        say = partial(click.echo, err=True)
        if rows and section.measure_rows is not None:
            section.measure_rows(rounds, results, say, rows)
        else:
            section.measure(rounds, results, say)
        described["load after the run"] = (
            f"{machine.load():.1f}, of which the benchmark has its part"
        )
        report.print_table(section, results.rows())
        for label, value in described.items():
            click.echo(f"{label}: {value}")
        if not no_write:
            report.write(section, results, described, rounds, keep_others=bool(rows))
            click.echo(f"Written to {report.PAGE.relative_to(report.ROOT)}.")


main()
