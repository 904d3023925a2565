"""Calls that block, in threads, with what fails in them as answers."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from confluent_kafka import KafkaException

from headwater.clients.errors import ClientError, InvalidTopicNameError
from headwater.rest.errors import client_error, kafka_error, serde_error
from headwater.serde.errors import SerdeError

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")


class Threads:
    """A few threads in which librdkafka and the registry's client may block.

    Who finds them all busy waits for one, so that requests cannot pile up threads.
    """

    def __init__(self, count: int, name: str) -> None:
        self._pool = ThreadPoolExecutor(count, thread_name_prefix=name)

    async def call(self, blocking: Callable[[], Result]) -> Result:
        """Call something in a thread; raises HttpError for what the cluster or registry say."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, blocking)
        except KafkaException as failure:
            raise kafka_error(failure.args[0]) from failure
        except (ClientError, InvalidTopicNameError) as failure:
            raise client_error(failure) from failure
        except SerdeError as failure:
            raise serde_error(failure) from failure

    def stop(self) -> None:
        """Let what is under way end, without waiting for it."""
        self._pool.shutdown(wait=False, cancel_futures=True)
