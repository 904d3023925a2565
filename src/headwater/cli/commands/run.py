"""`headwater run`: a stream processing program on Spark, with a live view of what it does."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from headwater.cli.errors import CommandError
from headwater.cli.options.client_properties import read_client_properties
from headwater.cli.options.connection import command_config_option
from headwater.cli.options.registry import registry_access_options
from headwater.cli.options.values import parse_assignments, point_in_time
from headwater.cli.stop_requests import stop_requests
from headwater.clients.errors import ClientError, InvalidPropertiesError
from headwater.clients.programs import CommandLine, given

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from headwater.plan.plan import Plan
    from headwater.spark.jobs.progress import QueryProgress
    from headwater.stores import Stores
    from headwater.streams.app import App

_REFRESH_S = 0.5


@click.command(
    epilog="""\b
Examples:
  headwater run alerts.py
  headwater run alerts.py --once
  headwater run alerts.py --reset --replay-from 2026-01-31T00:00:00Z
  headwater run alerts.py --bootstrap-server kafka:9093 --command-config client.properties
  headwater run alerts.py --registry https://sr:8081 --registry-user ada:secret --registry-ca ca.pem
  headwater run alerts.py --master spark://cluster:7077 --conf spark.executor.memory=4g

Ctrl-C stops it; the next run goes on where this one ended."""
)
@click.argument("program", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--app", "name", metavar="NAME", help="Which app, where the program has several.")
@click.option("--once", is_flag=True, help="Process what is there, then end.")
@click.option("--master", metavar="URL", help="A Spark cluster.  [default: this machine]")
@click.option(
    "--conf",
    "conf",
    metavar="spark.NAME=VALUE",
    multiple=True,
    help="Any setting of Spark; may be given several times.",
)
@click.option(
    "--bootstrap-server",
    metavar="HOST:PORT[,...]",
    help="Where the brokers are.  [default: what the program says, else localhost:9092]",
)
@click.option(
    "--checkpoint-dir",
    metavar="DIR",
    help="Where progress is kept: a folder, or an address such as s3a://bucket/folder.  "
    "[default: what the program says, else a folder by its name]",
)
@click.option(
    "--metrics-port",
    metavar="PORT",
    type=click.IntRange(0, 65535),
    help="Serve Prometheus metrics on this port of 127.0.0.1.",
)
@click.option(
    "--stores-port",
    metavar="PORT",
    type=click.IntRange(0, 65535),
    help="Follow the program's stores, and serve look-ups on this port of 127.0.0.1.",
)
@click.option(
    "--reset",
    is_flag=True,
    help="Forget progress, state and internal topics, and start where the program says.",
)
@click.option(
    "--replay-from",
    metavar="TIME",
    type=point_in_time,
    help="With --reset: begin streams at this time (an ISO date, 2h ago as 2h, or milliseconds).",
)
@click.option(
    "--from-topics",
    is_flag=True,
    help="Keep progress in the cluster as well, and go on from there without a checkpoint.",
)
@click.option("--describe", is_flag=True, help="Show the topology, and run nothing.")
@registry_access_options
@command_config_option
def run(
    program: Path,
    name: str | None,
    once: bool,
    master: str | None,
    conf: tuple[str, ...],
    bootstrap_server: str | None,
    command_config: Path | None,
    registry_properties: dict[str, str],
    checkpoint_dir: str | None,
    metrics_port: int | None,
    stores_port: int | None,
    reset: bool,
    replay_from: int | None,
    from_topics: bool,
    describe: bool,
) -> int:
    """Run a program that uses headwater.streams."""
    if replay_from is not None and not reset:
        raise CommandError(
            "--replay-from is where streams begin, and a program that has run goes on from its "
            "checkpoint: add --reset, which forgets that"
        )
    settings = parse_assignments(conf, "--conf")
    client = _client(command_config)
    # Taken out in any case: what is left goes to some clients, the address to all of them.
    in_file = client.pop("bootstrap.servers", None)
    servers = bootstrap_server or in_file
    if servers:
        # A program may want to know, too.
        os.environ["HEADWATER_BOOTSTRAP_SERVER"] = servers
    with given(CommandLine(servers, client, registry_properties)):
        app = _load(program, name)
    plan = _plan(app)
    if describe:
        click.echo(app.describe())
        return 0
    chosen = replace(
        plan.settings,
        checkpoint_dir=_place(checkpoint_dir) or plan.settings.checkpoint_dir,
        spark={**plan.settings.spark, **settings},
        replay_from_ms=replay_from,
        from_topics=from_topics,
    )
    with app.stores as stores:
        look_ups = None if stores_port is None else partial(_serve_stores, stores, stores_port)
        return _run(
            replace(plan, settings=chosen), once=once, master=master, metrics_port=metrics_port,
            serve_stores=look_ups, afresh=reset,
        )  # fmt: skip


# Such a file is often shared with other clients; in these, Spark has its own way.
_SPARKS_OWN = frozenset(
    {
        "key.serializer", "value.serializer", "key.deserializer", "value.deserializer",
        "auto.offset.reset", "enable.auto.commit", "interceptor.classes", "isolation.level",
    }
)  # fmt: skip


def _client(path: Path | None) -> dict[str, str]:
    properties, _ = read_client_properties(path)
    return {name: value for name, value in properties.items() if name not in _SPARKS_OWN}


def _place(given: str | None) -> Path | str | None:
    from headwater.plan.plan import checkpoint_place

    return checkpoint_place(given) if given else None


def _load(program: Path, name: str | None) -> App:
    from headwater.cli.run.program import ProgramError, load_app

    try:
        return load_app(program, name)
    except ProgramError as failure:
        raise CommandError(str(failure)) from None


def _plan(app: App) -> Plan:
    from headwater.plan.errors import PlanError

    try:
        return app.plan()
    except PlanError as failure:
        raise CommandError(str(failure)) from None


def _run(
    plan: Plan,
    *,
    once: bool,
    master: str | None,
    metrics_port: int | None,
    serve_stores: Callable[[], int] | None,
    afresh: bool,
) -> int:
    if find_spec("pyspark") is None:
        raise CommandError("pipelines need Spark: install it with pip install 'headwater[spark]'")
    from headwater.cli.run.view import make_run_view
    from headwater.java.artifacts import ArtifactError
    from headwater.java.runtime import JavaNotFound
    from headwater.plan.errors import PlanError
    from headwater.serde import SerdeError
    from headwater.spark.checkpoints import CheckpointError
    from headwater.spark.jars import OperatorsMissing, file_system_settings
    from headwater.spark.jobs.announcements import Announcer
    from headwater.spark.jobs.host import JobHost
    from headwater.spark.jobs.job import JobFailed
    from headwater.spark.jobs.reset import reset
    from headwater.spark.session import SessionError, ui_address
    from headwater.spark.shared_session import SharedSession

    name = plan.name
    conf = {**file_system_settings(plan.settings.checkpoint_dir), **plan.settings.spark}
    host = JobHost(SharedSession(name, master=master, conf=conf))

    def progress() -> tuple[QueryProgress, ...]:
        return next((job.progress for job in host.jobs()), ())

    with stop_requests() as stop, make_run_view(name) as view, Announcer(host.plans):

        def on_stop() -> None:
            view.say("stopping")
            host.session.abandon()

        stop.on_first = on_stop
        try:
            if afresh:
                deleted = reset(plan)
                view.say(f"reset; deleted {', '.join(deleted) or 'no topics'}")
            if metrics_port is not None:
                address = f"http://127.0.0.1:{_serve(lambda: {name: progress()}, metrics_port)}"
                view.say(f"metrics at {address}/metrics")
            if serve_stores is not None:
                view.say(f"look-ups at http://127.0.0.1:{serve_stores()}/stores")
            # As many slots as there are, and micro-batches where they are too few.
            host.start(name, plan, owner="run", once=once, falls_back=True, notice=view.say)
            view.say(f"running; Spark's own view is at {ui_address(host.session.get())}")
            while not stop and not host.wait(name, _REFRESH_S):
                view.show(progress())
        except (
            ArtifactError, CheckpointError, ClientError, InvalidPropertiesError, JavaNotFound,
            JobFailed, OperatorsMissing, PlanError, SerdeError, SessionError,
        ) as failure:  # fmt: skip
            if stop and isinstance(failure, SessionError):
                return 0  # it was starting when the user had enough
            raise CommandError(str(failure)) from None
        finally:
            host.stop_all()
            view.show(progress(), final=True)
    return 0


def _serve(progress: Callable[[], Mapping[str, Sequence[QueryProgress]]], port: int) -> int:
    from headwater.http.listening import ListenError
    from headwater.spark.jobs.metrics import serve_metrics

    try:
        return serve_metrics(progress, port)
    except ListenError as failure:
        raise CommandError(
            f"metrics cannot be served on port {port}: {failure} with --metrics-port, or 0 for any "
            "that is free"
        ) from None


def _serve_stores(stores: Stores, port: int) -> int:
    from headwater.http.listening import ListenError
    from headwater.stores import StoreError
    from headwater.stores.http.api import serve_stores

    if not stores.names:
        raise CommandError('there is nothing to look up: give a table a store with .store("name")')
    try:
        return serve_stores(stores, port)
    except ListenError as failure:
        raise CommandError(
            f"look-ups cannot be served on port {port}: {failure} with --stores-port, or 0 for any "
            "that is free"
        ) from None
    except StoreError as failure:
        raise CommandError(str(failure)) from None
