"""Runs Apache Kafka's own Connect worker in the foreground, as ours is run."""

from __future__ import annotations

import logging
import sys
from contextlib import ExitStack
from time import perf_counter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from headwater import __version__
from headwater.cli.errors import CommandError
from headwater.cli.options.exposure import is_loopback, refuse
from headwater.cli.stop_requests import stop_requests
from headwater.cluster.connect_worker import (
    DISTRIBUTED_DEFAULTS,
    ConnectWorkerFiles,
    is_healthy,
    plugin,
    with_client_settings,
)
from headwater.cluster.kafka import VERSION, require
from headwater.java.artifacts import ArtifactError
from headwater.java.runtime import JavaNotFound
from headwater.logs.lines import start_logging
from headwater.processes.child import ChildProcess, describe_exit
from headwater.processes.guard import Guard
from headwater.processes.ports import FreePorts, is_free, reachable
from headwater.processes.temporary_folder import TemporaryFolder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from headwater.cli.options.listeners import ListenerOptions
    from headwater.clients import ClusterAccess

logger = logging.getLogger("headwater")

_POLL_S = 0.1
_STOPPED_WITHIN_S = 60.0
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
        return _run(command, reachable(host), port)


def _run(command: Sequence[str], host: str, port: int) -> int:
    started = perf_counter()
    with (
        stop_requests() as asked,
        Guard(_STOPPED_WITHIN_S) as guard,
        ChildProcess(command, guard=guard, on_lines=_print, ends_with_thread=True) as worker,
    ):
        is_ready = False
        while worker.running and not asked:
            if not is_ready and is_healthy(host, port):
                is_ready = True
                logger.info(
                    "headwater %s Apache Kafka %s Connect worker listening on %s"
                    " (process %d, ready in %.0f ms)",
                    __version__, VERSION, _url(host, port), worker.pid,
                    (perf_counter() - started) * 1000,
                )  # fmt: skip
            _wait(worker)
        if asked:
            logger.info("stopping")
            worker.stop(within_s=_STOPPED_WITHIN_S)
            logger.info("stopped")
            return 0
    logger.error("Kafka's Connect worker ended by itself: %s", describe_exit(worker.wait()))
    return 1


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _wait(worker: ChildProcess) -> None:
    try:
        worker.wait(_POLL_S)
    except TimeoutError:
        return


def _print(lines: list[str]) -> None:
    sys.stderr.write("".join(f"{line}\n" for line in lines))
    sys.stderr.flush()


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
