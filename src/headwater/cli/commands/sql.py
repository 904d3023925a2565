"""`headwater sql`: statements for a SQL server, and the server itself."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from headwater.cli.connection import connection_options
from headwater.cli.errors import CommandError
from headwater.cli.listener_options import ListenerOptions, listener_options, servers_asked_for
from headwater.cli.service_settings import given_settings, settings_options

if TYPE_CHECKING:
    from headwater.cli.sql_client import SqlClient
    from headwater.clients.connection import Connection
    from headwater.sql.parser.parser import ParsedStatement

DEFAULT_PORT = 8088


@click.group(
    invoke_without_command=True,
    epilog="""\b
Examples:
  headwater sql --execute 'SHOW STREAMS;'
  headwater sql --execute "SET 'auto.offset.reset' = 'earliest';
    SELECT * FROM orders EMIT CHANGES LIMIT 3;"
  headwater sql --file statements.sql --output json
  headwater sql --url http://ksqldb:8088 --execute 'SHOW QUERIES;'
  headwater sql server --port 8088 --bootstrap-server localhost:9092

Works with this server and with ksqlDB alike. Ctrl-C ends a query that has no end.""",
)
@click.option("-e", "--execute", "text", metavar="STATEMENTS", help="Statements to run.")
@click.option(
    "-f",
    "--file",
    "path",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
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
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="Tables for people, or a line of JSON for each answer and each row.",
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
    """Run SQL statements on streams and tables, as ksqlDB has them."""
    if context.invoked_subcommand is not None:
        return None
    if (text is None) == (path is None):
        raise click.UsageError("give statements with --execute or --file, or start the `server`.")
    from headwater.cli.sql_client import SqlClient

    given = text if text is not None else path.read_text(encoding="utf-8") if path else ""
    _run(given, SqlClient(url, user), as_json=output == "json")
    return 0


@sql.command(
    epilog="""\b
Examples:
  headwater sql server
  headwater sql server --bootstrap-server localhost:9092 --registry http://localhost:8081
  headwater sql server --property ksql.service.id=plant_ --property ksql.streams.state.dir=./state
  headwater sql server --queries-file statements.sql
  headwater sql server --config ksql-server.properties --spark driver.memory=2g

Spark starts with the first query that is stored; statements and pull queries do without.

Stops cleanly on Ctrl-C and on SIGTERM, with exit code 0."""
)
@connection_options
@listener_options(DEFAULT_PORT)
@click.option("--registry", metavar="URL[,...]", help="The schema registry.")
@click.option("--queries-file", metavar="FILE", help="Statements to run; no others are taken then.")
@click.option(
    "--spark", "conf", metavar="NAME=VALUE", multiple=True, help="A setting of Spark's session."
)
@settings_options("sql", "ksqlDB's", "ksql-server.properties")
def server(
    connection: Connection,
    listener: ListenerOptions,
    registry: str | None,
    queries_file: str | None,
    conf: tuple[str, ...],
    config_file: Path | None,
    properties: tuple[str, ...],
) -> int:
    """Run the SQL server until Ctrl-C."""
    from headwater.cli.options import parse_assignments
    from headwater.clients import ClusterAccess
    from headwater.config import ConfigError
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
    try:
        values, listening = read_settings(SQL, settings)
    except ConfigError as failure:
        raise click.UsageError(settings.explain(failure)) from None
    listener.set_in(listening)
    servers = servers_asked_for(connection) or ",".join(values.words("bootstrap.servers"))
    spark = {
        f"spark.{name.removeprefix('spark.')}": value
        for name, value in parse_assignments(conf, "--spark").items()
    }
    hosted = HostedService(SQL, listening.host, listening.port or DEFAULT_PORT, settings)
    if listener.port == 0:
        hosted = HostedService(SQL, listening.host, 0, settings)
    return run([hosted], ClusterAccess(servers, connection.access.properties), spark)


def _run(text: str, client: SqlClient, *, as_json: bool) -> None:
    from headwater.sql.errors import SqlError
    from headwater.sql.parser.parser import parse

    closed = text if text.rstrip().endswith(";") else f"{text};"
    try:
        for parsed in parse(closed):
            _run_one(parsed, client, as_json=as_json)
    except SqlError as refusal:
        raise CommandError(str(refusal)) from None


def _run_one(parsed: ParsedStatement, client: SqlClient, *, as_json: bool) -> None:
    import json

    from headwater.cli.sql_output import show_entity
    from headwater.sql.tree.queries import Query
    from headwater.sql.tree.statements.inspection import PrintTopic
    from headwater.sql.tree.statements.session import (
        DefineVariable,
        SetProperty,
        UndefineVariable,
        UnsetProperty,
    )

    text = f"{parsed.text};"
    match parsed.statement:
        case SetProperty(name, value):
            client.properties[name] = value
        case UnsetProperty(name):
            client.properties.pop(name, None)
        case DefineVariable() | UndefineVariable():
            pass  # the values are in the statements after it
        case PrintTopic():
            for line in client.lines(text):
                click.echo(line)
        case Query():
            _show_rows(client, text, as_json=as_json)
        case _:
            for entity in client.statement(text):
                if as_json:
                    click.echo(json.dumps(entity))
                else:
                    show_entity(entity)


def _show_rows(client: SqlClient, text: str, *, as_json: bool) -> None:
    import json

    from headwater.cli.sql_output import row_cells

    for part in client.rows(text):
        if as_json:
            click.echo(json.dumps(part))
        elif "header" in part:
            names = re.findall(r"(?:^|, )`((?:[^`]|``)*)` ", part["header"]["schema"])
            click.echo(" | ".join(names))
        elif "row" in part:
            click.echo(" | ".join(row_cells(part["row"]["columns"])))
        elif "finalMessage" in part:
            click.echo(part["finalMessage"], err=True)
        elif "message" in part:
            raise CommandError(str(part["message"]))
