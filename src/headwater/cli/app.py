"""The root of the command line: which commands there are, and what every failure looks like."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING

import click

from headwater import __version__
from headwater.cli.lazy_group import LazyCommand, LazyGroup
from headwater.logs.lines import VARIABLE, LogFormat

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

EXIT_FAILURE = 1
EXIT_INTERRUPTED = 130

_COMMANDS = (
    LazyCommand("up", "headwater.cli.commands.up:up", "Run the broker and all services around it."),
    LazyCommand("broker", "headwater.cli.commands.broker:broker", "Run the embedded broker."),
    LazyCommand(
        "cluster", "headwater.cli.commands.cluster:cluster", "Stop, start, kill Apache Kafka nodes."
    ),
    LazyCommand(
        "mirror",
        "headwater.cli.commands.mirror:mirror",
        "Copy topics and groups to another cluster.",
    ),
    LazyCommand("registry", "headwater.cli.commands.registry:registry", "Run the schema registry."),
    LazyCommand("rest", "headwater.cli.commands.rest:rest", "Run the REST proxy."),
    LazyCommand("console", "headwater.cli.commands.console:console", "Run the web console."),
    LazyCommand(
        "topics", "headwater.cli.commands.topics:topics", "Create, list, change, delete topics."
    ),
    LazyCommand("configs", "headwater.cli.commands.configs:configs", "Show and change settings."),
    LazyCommand(
        "quotas", "headwater.cli.commands.quotas:quotas", "Show and change what clients may use."
    ),
    LazyCommand(
        "users", "headwater.cli.commands.users:users", "Create, alter, delete, list SCRAM users."
    ),
    LazyCommand(
        "security",
        "headwater.cli.commands.security:security",
        "Make certificates, users and client properties.",
    ),
    LazyCommand("acls", "headwater.cli.commands.acls:acls", "Say who may do what."),
    LazyCommand(
        "delegation-tokens",
        "headwater.cli.commands.delegation_tokens:delegation_tokens",
        "Make, renew, end, list delegation tokens.",
    ),
    LazyCommand("produce", "headwater.cli.commands.produce:produce", "Write records to a topic."),
    LazyCommand("consume", "headwater.cli.commands.consume:consume", "Read records from a topic."),
    LazyCommand(
        "groups", "headwater.cli.commands.groups:groups", "Describe and reset consumer groups."
    ),
    LazyCommand(
        "transactions",
        "headwater.cli.commands.transactions:transactions",
        "List, describe and abort transactions.",
    ),
    LazyCommand(
        "schemas", "headwater.cli.commands.schemas:schemas", "Register, check, compare schemas."
    ),
    LazyCommand(
        "run", "headwater.cli.commands.run:run", "Run a stream processing program on Spark."
    ),
    LazyCommand("sql", "headwater.cli.commands.sql:sql", "Run SQL statements, and their server."),
    LazyCommand(
        "connect",
        "headwater.cli.commands.connect:connect",
        "Move data in and out of topics with connectors.",
    ),
    LazyCommand("spark", "headwater.cli.commands.spark:spark", "Make Spark ready on this machine."),
    LazyCommand(
        "spark-services",
        "headwater.cli.commands.spark_services:spark_services",
        "Run services that need Spark, for `headwater up`.",
        is_hidden=True,
    ),
    LazyCommand(
        "monitor",
        "headwater.cli.commands.monitor:monitor",
        "Watch how far consumer groups are behind.",
    ),
    LazyCommand(
        "doctor", "headwater.cli.commands.doctor:doctor", "Say what is wrong, and what to do."
    ),
    LazyCommand("log", "headwater.cli.commands.log:log", "Look into segment files."),
    LazyCommand("perf", "headwater.cli.commands.perf:perf", "Measure throughput and latency."),
    LazyCommand("demo", "headwater.cli.commands.demo:demo", "See records flow through a broker."),
)


class _Root(LazyGroup):
    """The root group: the two ways in which a user ends a command early are no failures."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except KeyboardInterrupt:
            raise click.exceptions.Exit(EXIT_INTERRUPTED) from None
        except BrokenPipeError:
            # The reader had enough (`| head`). Without this, Python complains when it ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise click.exceptions.Exit(0) from None


@click.group(
    cls=_Root,
    lazy_commands=_COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Exit codes:
  0    it worked
  1    it failed while running; the reason is on standard error
  2    the command line was wrong
  130  interrupted with Ctrl-C

\b
Examples:
  headwater demo
  headwater broker --port 9092 --data ./data
  headwater topics create orders --partitions 3
  echo 'hello' | headwater produce orders
  headwater consume orders --from-beginning --until-end

Every command that talks to a cluster takes --bootstrap-server (or the environment variable
HEADWATER_BOOTSTRAP_SERVER) and works with Headwater's broker and with Apache Kafka alike.""",
)
@click.version_option(__version__, "-V", "--version", prog_name="headwater")
@click.option(
    "--log-format",
    type=click.Choice([each.value for each in LogFormat]),
    envvar=VARIABLE,
    show_envvar=True,
    help="How services write their logs: lines of text, or a JSON object each.  [default: text]",
)
def headwater(log_format: str | None) -> None:
    """The event-streaming platform in one install: a Kafka-compatible log and what goes with it."""
    if log_format is not None:
        os.environ[VARIABLE] = log_format  # for the services that this process starts, too


def run(arguments: Sequence[str]) -> int:
    """Run a command line; every outcome becomes an exit code, and never a traceback."""
    interrupts = _count_interrupts()
    try:
        result = headwater.main(list(arguments), "headwater", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.exceptions.Abort:
        return EXIT_INTERRUPTED
    except click.ClickException as failure:
        failure.show()
        return failure.exit_code
    except Exception as failure:
        if interrupts:
            # Ctrl-C while librdkafka calls back into Python comes out as some other error.
            return EXIT_INTERRUPTED
        if os.environ.get("HEADWATER_TRACEBACK"):
            raise
        click.echo(f"Error: {_describe(failure)}", err=True)
        return EXIT_FAILURE


def _count_interrupts() -> list[int]:
    """Let Ctrl-C do what it always does, and return a list that it adds to."""
    seen: list[int] = []

    def on_interrupt(number: int, frame: FrameType | None) -> None:
        seen.append(number)
        signal.default_int_handler(number, frame)

    # Not where somebody else has decided what SIGINT does, as `nohup` or a test runner may.
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, on_interrupt)
    return seen


def _describe(failure: Exception) -> str:
    if isinstance(failure, OSError) and failure.strerror:
        where = f"{failure.filename}: " if failure.filename else ""
        name = errno.errorcode.get(failure.errno or 0, "")
        return f"{where}{failure.strerror}{f' ({name})' if name else ''}"
    # What is not an OSError nor a ClickException by now is a mistake of ours: say how to report it.
    return (
        f"{type(failure).__name__}: {failure}\n"
        "This looks like a fault in Headwater. HEADWATER_TRACEBACK=1 shows where it happened."
    )
