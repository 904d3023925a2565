"""Questions that block, asked in a few threads, and what keeps them from an answer."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from confluent_kafka import KafkaException

from headwater.clients.errors import (
    ClientError,
    InvalidPropertiesError,
    InvalidTopicNameError,
    describe,
)
from headwater.serde.errors import SerdeError

if TYPE_CHECKING:
    from collections.abc import Callable

Given = ParamSpec("Given")
Result = TypeVar("Result")

THREADS = 12


class ConsoleError(Exception):
    """Something that a person asked for cannot be had or done; the message is for them."""


class NotUnderstoodError(ConsoleError):
    """What a person typed makes no sense."""


class Questions:
    """Asks in threads; who finds them all busy waits for one."""

    def __init__(self, threads: int = THREADS) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="console")

    async def ask(
        self, blocking: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs
    ) -> Result:
        """Return the answer; raises ConsoleError."""

        def asked() -> Result:
            return explained(lambda: blocking(*args, **kwargs))

        return await asyncio.get_running_loop().run_in_executor(self._pool, asked)

    def stop(self) -> None:
        """Let what is under way end, without waiting for it."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def explained(blocking: Callable[[], Result]) -> Result:
    """Call something; what clusters and registries say is raised as a ConsoleError."""
    try:
        return blocking()
    except KafkaException as failure:
        raise ConsoleError(f"The cluster said: {describe(failure.args[0])}.") from failure
    except (ClientError, InvalidTopicNameError, InvalidPropertiesError, SerdeError) as failure:
        raise ConsoleError(_sentence(str(failure))) from failure
    except ValueError as failure:
        raise NotUnderstoodError(_sentence(str(failure))) from failure


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."
