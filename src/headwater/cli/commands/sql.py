"""`headwater sql`: statements for a SQL server, and the server itself."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from headwater.cli.options.connection import connection_options
from headwater.cli.options.listeners import ListenerOptions, listener_options, servers_asked_for
from headwater.cli.options.service_settings import explained, given_settings, settings_options

if TYPE_CHECKING:
    from headwater.clients.connection import Connection

DEFAULT_PORT = 8088
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group(
    invoke_without_command=True,
    epilog="""\b
Examples:
  headwater sql
  headwater sql --execute 'SHOW STREAMS;'
  headwater sql --execute "SET 'auto.offset.reset' = 'earliest';
    SELECT * FROM orders EMIT CHANGES LIMIT 3;"
  headwater sql --file statements.sql --output json
  headwater sql --url http://ksqldb:8088 --execute 'SHOW QUERIES;'
  headwater sql server --port 8088 --bootstrap-server localhost:9092

Without statements it is a shell: HELP tells what there is, Tab completes, Ctrl-C ends a query
that has no end, Ctrl-D leaves. Works with this server and with ksqlDB alike.""",
)
@click.option("-e", "--execute", "text", metavar="STATEMENTS", help="Statements to run.")
@click.option(
    "-f",
    "--file",
    "path",
    type=_FILE,
    help="A file of statements to run.",
)
@click.option(
    "--url",
    envvar="HEADWATER_SQL_URL",
    default=f"http://localhost:{DEFAULT_PORT}",
    show_default=True,
    help="Where the server is.",
)
@click.option("--user", metavar="NAME:PASSWORD", help="Who is asking, for basic authentication.")
@click.option(
    "--output",
    type=click.Choice(["table", "json", "csv"]),
    default="table",
    show_default=True,
    help="Tables for people, a line of JSON for each answer and each row, or CSV.",
)
@click.pass_context
def sql(
    context: click.Context,
    text: str | None,
    path: Path | None,
    url: str,
    user: str | None,
    output: str,
) -> int | None:
    """Run SQL statements on streams and tables, as ksqlDB has them, or type them in a shell."""
    if context.invoked_subcommand is not None:
        return None
    if text is not None and path is not None:
        raise click.UsageError("give statements with --execute or with --file, and not with both.")
    from headwater.cli.sql.client import SqlClient
    from headwater.cli.sql.session import Session

    is_interactive = text is None and path is None and sys.stdin.isatty()
    session = Session(SqlClient(url, user), output, is_interactive=is_interactive)
    if is_interactive:
        from headwater.cli.sql.shell import Shell

        Shell(session).run()
        return 0
    try:
        if path is not None:
            session.run_file(path)
        else:
            session.run(sys.stdin.read() if text is None else text)
    finally:
        session.close()
    return 0


@sql.command(
    epilog="""\b
Examples:
  headwater sql server
  headwater sql server --bootstrap-server localhost:9092 --registry http://localhost:8081
  headwater sql server --property ksql.service.id=plant_ --property ksql.streams.state.dir=./state
  headwater sql server --queries-file statements.sql
  headwater sql server --config ksql-server.properties --spark driver.memory=2g
  headwater sql server --master spark://cluster:7077 --property ksql.streams.state.dir=/shared/sql

Spark starts with the first query that is stored; statements and pull queries do without.

Stops cleanly on Ctrl-C and on SIGTERM, with exit code 0."""
)
@connection_options
@listener_options(DEFAULT_PORT)
@click.option("--registry", metavar="URL[,...]", help="The schema registry.")
@click.option("--queries-file", metavar="FILE", help="Statements to run; no others are taken then.")
@click.option("--master", metavar="URL", help="A Spark cluster.  [default: this machine]")
@click.option(
    "--spark", "conf", metavar="NAME=VALUE", multiple=True, help="A setting of Spark's session."
)
@settings_options("sql", "ksqlDB's", "ksql-server.properties")
def server(
    connection: Connection,
    listener: ListenerOptions,
    registry: str | None,
    queries_file: str | None,
    master: str | None,
    conf: tuple[str, ...],
    config_file: Path | None,
    properties: tuple[str, ...],
) -> int:
    """Run the SQL server until Ctrl-C."""
    from headwater.cli.options.values import parse_assignments
    from headwater.clients import ClusterAccess
    from headwater.config.sources import from_options
    from headwater.spark_services.process import HostedService, run
    from headwater.spark_services.spark_service import read_settings
    from headwater.sql.server.service import SQL

    settings = given_settings(SQL.definitions, config_file, properties)
    options = {
        "ksql.schema.registry.url": registry,
        "ksql.queries.file": queries_file,
        "authentication.users.file": listener.users,
        "ssl.certificate.location": listener.certificate,
        "ssl.key.location": listener.key,
    }
    typed = {name: str(value) for name, value in options.items() if value is not None}
    settings |= from_options(typed, "the command line")
    with explained(settings):
        values, listening = read_settings(SQL, settings)
    listener.set_in(listening)
    servers = servers_asked_for(connection) or ",".join(values.words("bootstrap.servers"))
    spark = {
        f"spark.{name.removeprefix('spark.')}": value
        for name, value in parse_assignments(conf, "--spark").items()
    }
    hosted = HostedService(SQL, listening.host, listening.port or DEFAULT_PORT, settings)
    if listener.port == 0:
        hosted = HostedService(SQL, listening.host, 0, settings)
    access = ClusterAccess(servers, connection.access.properties)
    return run([hosted], access, spark, master)


@sql.command(
    epilog="""\b
Examples:
  headwater sql test --sql-file s.sql --input-file i.json --output-file o.json
  headwater sql test tests/sql
  headwater sql test alerts.sql

The three files are those of ksqlDB's ksql-test-runner. A PATH is a file, or a folder of files, of
tests in SQL alone, as run-ksql-test has them: --@test: NAME, statements, INSERT INTO ... VALUES,
ASSERT VALUES. Neither needs a broker or a registry. The exit code is 1 if a test fails."""
)
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("-s", "--sql-file", type=_FILE, help="The statements.")
@click.option("-i", "--input-file", type=_FILE, help="The records to give, as JSON.")
@click.option("-o", "--output-file", type=_FILE, help="The records to expect, as JSON.")
def test(
    paths: tuple[Path, ...],
    sql_file: Path | None,
    input_file: Path | None,
    output_file: Path | None,
) -> int:
    """Run statements over records of a file; compare results."""
    from headwater.cli.sql.testing import test_files, test_paths

    if paths and (sql_file or input_file or output_file):
        raise click.UsageError("give a PATH of tests in SQL, or three files, and not both.")
    if paths:
        return test_paths(paths)
    if sql_file is None or output_file is None:
        raise click.UsageError("give --sql-file and --output-file, or a PATH of tests in SQL.")
    return test_files(sql_file, input_file, output_file)
