"""Runs one of Apache Kafka's own programs in the foreground, as services of ours are run."""

from __future__ import annotations

import logging
import sys
from time import perf_counter
from typing import TYPE_CHECKING

from headwater import __version__
from headwater.cli.stop_requests import stop_requests
from headwater.cluster.kafka import VERSION
from headwater.processes.child import ChildProcess, describe_exit
from headwater.processes.guard import Guard

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

logger = logging.getLogger("headwater")

_POLL_S = 0.1
_STOPPED_WITHIN_S = 60.0


def print_lines(lines: list[str]) -> None:
    """Print what a program of Kafka's has logged, where ours log."""
    sys.stderr.write("".join(f"{line}\n" for line in lines))
    sys.stderr.flush()


def run_jvm(
    command: Sequence[str],
    name: str,
    says: str,
    *,
    is_ready: Callable[[], bool],
    on_lines: Callable[[list[str]], object] = print_lines,
    while_ready: Callable[[], object] = lambda: None,
) -> int:
    """Run a program until Ctrl-C, and return the exit code.

    `says` is what is told of it when it is ready, and from then on `while_ready` is called again
    and again.
    """
    started = perf_counter()
    with (
        stop_requests() as asked,
        Guard(_STOPPED_WITHIN_S) as guard,
        ChildProcess(command, guard=guard, on_lines=on_lines, ends_with_thread=True) as program,
    ):
        was_ready = False
        while program.running and not asked:
            if was_ready:
                while_ready()
            elif is_ready():
                was_ready = True
                logger.info(
                    "headwater %s Apache Kafka %s %s (process %d, ready in %.0f ms)",
                    __version__, VERSION, says, program.pid, (perf_counter() - started) * 1000,
                )  # fmt: skip
            _wait(program)
        if asked:
            logger.info("stopping")
            program.stop(within_s=_STOPPED_WITHIN_S)
            logger.info("stopped")
            return 0
    logger.error("%s ended by itself: %s", name, describe_exit(program.wait()))
    return 1


def _wait(program: ChildProcess) -> None:
    try:
        program.wait(_POLL_S)
    except TimeoutError:
        return
