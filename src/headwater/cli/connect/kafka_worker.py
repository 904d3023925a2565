"""Runs Apache Kafka's own Connect worker in the foreground, as ours is run."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from headwater.cli.errors import CommandError
from headwater.cli.kafka_jvm import run_jvm
from headwater.cli.options.exposure import is_loopback, refuse
from headwater.cluster.connect_worker import (
    DISTRIBUTED_DEFAULTS,
    ConnectWorkerFiles,
    is_healthy,
    plugin,
    with_client_settings,
)
from headwater.cluster.kafka import require
from headwater.java.artifacts import ArtifactError
from headwater.java.runtime import JavaNotFound
from headwater.logs.lines import start_logging
from headwater.processes.ports import FreePorts, is_free, reachable
from headwater.processes.temporary_folder import TemporaryFolder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from headwater.cli.options.listeners import ListenerOptions
    from headwater.clients import ClusterAccess

_OURS = ("engine",)
_EXTENSIONS = "rest.extension.classes"


def run_kafka_worker(
    access: ClusterAccess,
    listener: ListenerOptions,
    given: Mapping[str, str],
    plugins: Sequence[str],
    connectors: Sequence[Path] | None = None,
) -> int:
    """Run a worker until Ctrl-C and return the exit code; with `connectors` it is standalone.

    `plugins` are Maven coordinates of connectors, beside those that `plugin.path` has.
    """
    start_logging()
    with ExitStack() as stack:
        host, port = _address(listener, given, stack)
        settings = {
            **({} if connectors is not None else DISTRIBUTED_DEFAULTS),
            **{name: text for name, text in given.items() if name not in _OURS},
            "listeners": _url(host, port),
        }
        try:
            require()
            folders = [plugin(coordinate) for coordinate in plugins]
        except (ArtifactError, JavaNotFound) as failure:
            raise CommandError(str(failure)) from None
        files = ConnectWorkerFiles(stack.enter_context(TemporaryFolder("connect")))
        files.write(with_client_settings(settings, access.java()), folders)
        command = (
            files.distributed_command()
            if connectors is None
            else files.standalone_command([each.absolute() for each in connectors])
        )
        return run_jvm(
            command,
            "Kafka's Connect worker",
            f"Connect worker listening on {_url(host, port)}",
            is_ready=lambda: is_healthy(reachable(host), port),
        )


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _address(
    listener: ListenerOptions, given: Mapping[str, str], stack: ExitStack
) -> tuple[str, int]:
    """Return where it shall listen; refuses what Kafka's worker does by settings of its own."""
    for option, value in (("users", listener.users), ("certificate", listener.certificate)):
        if value is not None:
            raise click.UsageError(
                f"--{option} is for our own worker. Kafka's has rest.extension.classes, and a proxy"
                " in front of it has certificates."
            )
    named = urlsplit(given.get("listeners", "").split(",")[0])
    if named.scheme not in ("", "http"):
        raise click.UsageError("listeners: Kafka's worker is run with http; let a proxy speak TLS.")
    host = listener.host or named.hostname or "127.0.0.1"
    if not (listener.insecure or is_loopback(host) or _EXTENSIONS in given):
        refuse(f"on {host}", f"Have Kafka's worker ask for passwords with {_EXTENSIONS}")
    port = listener.port if listener.port is not None else named.port or 8083
    if port == 0:
        free = FreePorts(host)
        stack.callback(free.close)
        port = free.pick()
    elif not is_free(port, host):
        raise CommandError(f"port {port} on {host} is taken; choose another with --port")
    return host, port
