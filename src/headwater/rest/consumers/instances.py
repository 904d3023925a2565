"""All consumer instances of a proxy: made, found, used one request at a time, and expired."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
import uuid
from typing import TYPE_CHECKING, Any, TypeVar

from headwater.http.errors import HttpError
from headwater.rest.consumers.instance import ConsumerInstance
from headwater.rest.errors import consumer_exists, consumer_not_found
from headwater.rest.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from headwater.rest.config import RestConfig
    from headwater.rest.consumers.instance import InstanceSettings

Result = TypeVar("Result")

logger = logging.getLogger("headwater.rest")

_LONGEST_PAUSE_S = 1.0


class ConsumerInstances:
    """The instances by group and name."""

    def __init__(self, config: RestConfig) -> None:
        self._config = config
        self._client = config.consumer_settings()
        self._threads = Threads(config.consumer_threads, "rest-consumer")
        self._instances: dict[tuple[str, str], ConsumerInstance] = {}
        self._expiring: asyncio.Task[None] | None = None
        self._busy = 0

    def __len__(self) -> int:
        return len(self._instances)

    @property
    def with_consumers(self) -> int:
        """How many of them have a Kafka consumer."""
        return sum(each.has_consumer for each in self._instances.values())

    @property
    def is_crowded(self) -> bool:
        """Whether more requests want to wait for records than there are threads for it."""
        return self._busy > self._config.consumer_threads

    def start(self) -> None:
        """Begin to expire those that are left alone."""
        self._expiring = asyncio.create_task(self._expire())

    async def stop(self) -> None:
        """Let all of them leave their groups."""
        if self._expiring is not None:
            self._expiring.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._expiring
        await asyncio.gather(*(self._delete(each) for each in list(self._instances.values())))
        self._threads.stop()

    def new_name(self) -> str:
        """Return a name for an instance whose client gave it none."""
        server = f"{self._config.id}-" if self._config.id else ""
        return f"rest-consumer-{server}{uuid.uuid4()}"

    def create(self, settings: InstanceSettings) -> ConsumerInstance:
        """Make an instance; raises HttpError 409."""
        key = (settings.group, settings.name)
        if key in self._instances:
            raise consumer_exists(*key)
        instance = self._instances[key] = ConsumerInstance(settings, self._client)
        return instance

    def find(self, group: str, name: str) -> ConsumerInstance:
        """Return an instance, which was used at this moment; raises HttpError 404."""
        instance = self._instances.get((group, name))
        if instance is None:
            raise consumer_not_found(group, name)
        instance.last_used = time.monotonic()
        return instance

    async def use(
        self, instance: ConsumerInstance, action: Callable[[ConsumerInstance], Result]
    ) -> Result:
        """Do something with an instance, after what others do with it; raises HttpError."""
        async with instance.lock:
            return await self.use_locked(instance, action)

    async def use_locked(
        self, instance: ConsumerInstance, action: Callable[[ConsumerInstance], Result]
    ) -> Result:
        """Do something with an instance whose lock the caller holds."""
        if instance.is_deleted:
            raise consumer_not_found(instance.settings.group, instance.settings.name)
        self._busy += 1
        try:
            # A thread that has begun cannot be stopped: the lock is kept until it has ended, also
            # where the client has left.
            return await _to_the_end(self._threads.call(lambda: action(instance)))
        finally:
            self._busy -= 1
            instance.last_used = time.monotonic()

    async def delete(self, group: str, name: str) -> None:
        """Let an instance leave its group, and forget it; raises HttpError 404."""
        await self._delete(self.find(group, name))

    async def _delete(self, instance: ConsumerInstance) -> None:
        settings = instance.settings
        self._instances.pop((settings.group, settings.name), None)
        instance.is_deleted = True  # whoever waits for records stops to
        async with instance.lock:
            await self._threads.call(instance.close)

    async def _expire(self) -> None:
        timeout_s = self._config.instance_timeout_s
        while True:
            await asyncio.sleep(min(_LONGEST_PAUSE_S, timeout_s / 4))
            latest = time.monotonic() - timeout_s
            await asyncio.gather(
                *(
                    self._expire_one(instance)
                    for instance in list(self._instances.values())
                    if instance.last_used < latest and not instance.lock.locked()
                )
            )

    async def _expire_one(self, instance: ConsumerInstance) -> None:
        settings = instance.settings
        logger.info("consumer '%s' of '%s' has expired", settings.name, settings.group)
        try:
            await self._delete(instance)
        except HttpError as failure:
            logger.warning("consumer '%s' did not leave its group: %s", settings.name, failure)
        except Exception:  # those that are left alone after it expire all the same
            logger.exception("consumer '%s' did not leave its group", settings.name)


async def _to_the_end(work: Coroutine[Any, Any, Result]) -> Result:
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise
