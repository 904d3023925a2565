"""`headwater mirror`: copies topics and groups to another cluster, by Kafka's MirrorMaker."""

from __future__ import annotations

import re
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from headwater.cli.errors import CommandError, client_failures
from headwater.cli.options.client_properties import read_client_properties
from headwater.cli.options.values import parse_assignments

if TYPE_CHECKING:
    from collections.abc import Mapping


_file = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(
    epilog="""\b
Examples:
  headwater mirror --from localhost:9092 --to kafka:9092 --same-names
  headwater mirror --from localhost:9092 --to kafka:9092 --topics 'orders,plant-.*' --alias lab
  headwater mirror --from localhost:9092 --to kafka:9092 --show > mm2.properties
  headwater mirror mm2.properties
  headwater mirror mm2.properties --clusters B

What is copied goes on to be: records, new topics and partitions, settings, and, with --from, the
offsets of groups that are not active in the target. Run it anew, and it goes on where it was.
Stops cleanly on Ctrl-C and on SIGTERM, with exit code 0."""
)
@click.argument("file", metavar="[MM2.PROPERTIES]", required=False, type=_file)
@click.option("--from", "source", metavar="HOST:PORT[,...]", help="Brokers to copy from.")
@click.option("--to", "target", metavar="HOST:PORT[,...]", help="Brokers to copy to.")
@click.option(
    "--from-config",
    metavar="FILE",
    type=_file,
    help="Client properties of the cluster to copy from (security and the like).",
)
@click.option(
    "--to-config", metavar="FILE", type=_file, help="Client properties of the cluster to copy to."
)
@click.option(
    "--alias",
    default="source",
    show_default=True,
    help="The beginning of the copies' names: topic `orders` becomes `source.orders`.",
)
@click.option("--same-names", is_flag=True, help="Copies have the names of their topics.")
@click.option("--topics", help="Names and regular expressions, separated by commas.  [default: .*]")
@click.option("--groups", help="The same for consumer groups.  [default: .*]")
@click.option(
    "--clusters",
    metavar="NAME[,...]",
    help="Write to these clusters of the file alone; others are written to from elsewhere.",
)
@click.option(
    "--property",
    "properties",
    metavar="NAME=VALUE",
    multiple=True,
    help="A setting of MirrorMaker, above those of the file; may be given several times.",
)
@click.option("--show", is_flag=True, help="Print mm2.properties for these options, and end.")
def mirror(
    file: Path | None,
    source: str | None,
    target: str | None,
    from_config: Path | None,
    to_config: Path | None,
    alias: str,
    same_names: bool,
    topics: str | None,
    groups: str | None,
    clusters: str | None,
    properties: tuple[str, ...],
    show: bool,
) -> int:
    """Copy topics and groups to another cluster, and go on copying until Ctrl-C.

    Apache Kafka's own MirrorMaker does it, between clusters of any kind: Headwater's brokers and
    Apache Kafka. MM2.PROPERTIES is its file, as connect-mirror-maker.sh takes it.
    """
    from headwater.cluster.mirror_maker import one_way

    if file is not None:
        if source or target:
            raise click.UsageError(
                "MM2.PROPERTIES says where to copy from and to; leave out --from and --to."
            )
        settings = _read(file)
    elif source and target:
        if not re.fullmatch(r"[a-zA-Z0-9._-]+", alias) or alias == "target":
            raise click.BadParameter(
                f"'{alias}' cannot begin topics' names: use letters, digits, '.', '_' and '-',"
                " and not 'target'",
                param_hint="--alias",
            )
        settings = one_way(
            _client(source, from_config),
            _client(target, to_config),
            alias=alias,
            has_same_names=same_names,
        )
    else:
        raise click.UsageError("Say what to copy: MM2.PROPERTIES, or --from and --to.")
    settings |= {name: text for name, text in (("topics", topics), ("groups", groups)) if text}
    settings |= parse_assignments(properties, "--property")
    if show:
        _show(settings)
        return 0
    only = [each for each in re.split(r"[,\s]+", clusters or "") if each]
    return _run(settings, only)


def _read(file: Path) -> dict[str, str]:
    from headwater.config.properties import parse_properties

    try:
        return parse_properties(file.read_text("utf-8"))
    except UnicodeDecodeError as failure:
        raise CommandError(f"{file}: {failure}") from None


def _client(servers: str, config: Path | None) -> dict[str, str]:
    """Return a cluster's clients' settings in Java's words, as MirrorMaker takes them."""
    from headwater.clients import ClusterAccess, InvalidPropertiesError

    of_kafka, _ = read_client_properties(config)
    try:
        return ClusterAccess.of(of_kafka, servers).java()
    except InvalidPropertiesError as failure:
        raise CommandError(f"{config}: {failure}") from None


def _show(settings: Mapping[str, str]) -> None:
    from headwater.cluster.mirror_maker import with_defaults
    from headwater.cluster.server_properties import as_text

    click.echo(as_text(with_defaults(settings)), nl=False)


def _run(settings: Mapping[str, str], only: list[str]) -> int:
    from headwater.cli.kafka_jvm import print_lines, run_jvm
    from headwater.cli.mirror.progress import Progress
    from headwater.clients import ClusterAccess
    from headwater.clients.connection import Connection
    from headwater.cluster.kafka import require
    from headwater.cluster.mirror_maker import STARTED, MirrorMakerFiles, flows, of_cluster
    from headwater.java.artifacts import ArtifactError
    from headwater.java.runtime import JavaNotFound
    from headwater.logs.lines import start_logging
    from headwater.processes.temporary_folder import TemporaryFolder

    try:
        wanted = flows(settings, only)
    except ValueError as failure:
        raise CommandError(str(failure)) from None
    start_logging()
    started: list[str] = []

    def on_lines(lines: list[str]) -> None:
        started.extend(line for line in lines if STARTED in line)
        print_lines(lines)

    with ExitStack() as stack, client_failures():
        connections = {
            alias: Connection(ClusterAccess.of(of_cluster(settings, alias)).for_admin())
            for flow in wanted
            for alias in (flow.source, flow.target)
        }
        for connection in connections.values():
            connection.topic_names()  # so that a wrong address is told before a JVM has started
        progress = [
            Progress(flow, connections[flow.source], connections[flow.target]) for flow in wanted
        ]
        for each in progress:
            stack.callback(each.close)

        def tell() -> None:
            for each in progress:
                each.tell()

        files = MirrorMakerFiles(stack.enter_context(TemporaryFolder("mirror")))
        files.write(settings)
        try:
            require()
            command = files.command(only)
        except (ArtifactError, JavaNotFound) as failure:
            raise CommandError(str(failure)) from None
        return run_jvm(
            command,
            "MirrorMaker",
            f"MirrorMaker copies {', '.join(map(str, wanted))}",
            is_ready=lambda: bool(started),
            on_lines=on_lines,
            while_ready=tell,
        )
