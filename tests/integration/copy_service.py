"""Spark services for tests: each copies topics, with a job for each topic that it is told of."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.config import NOT_EMPTY, ConfigDef, ConfigError, ConfigType, Definitions
from headwater.http.answers import answer
from headwater.http.app import App, call_handler
from headwater.http.errors import HttpError
from headwater.http.interface import Interface
from headwater.http.listener_settings import listener_definitions
from headwater.http.metrics import RequestMetrics
from headwater.http.routes import Route
from headwater.streams import App as Program
from headwater.streams import PlanError

if TYPE_CHECKING:
    from headwater.config import Values
    from headwater.http.answers import Reply
    from headwater.http.request import Request
    from headwater.spark_services.spark_service import ServiceContext


class CopySparkService:
    """A service under any name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.definitions = Definitions(
            name,
            ConfigDef("directory", ConfigType.STRING, "/tmp", "For checkpoints.", NOT_EMPTY),
            ConfigDef("suffix", ConfigType.STRING, f"-{name}", "What copies are called."),
            *listener_definitions(0),
        )

    def check(self, settings: Values) -> None:
        suffix = settings.text("suffix") or ""
        if not suffix.startswith("-"):
            raise ConfigError("suffix", suffix, "it has to start with -")

    def build(self, context: ServiceContext) -> CopyService:
        return CopyService(self.name, context)


class CopyService:
    def __init__(self, name: str, context: ServiceContext) -> None:
        self.title = name
        authenticator = context.listener.authenticator("copies")
        self.app = App(
            _INTERFACE, call_handler(self), RequestMetrics("copies"), authenticator=authenticator
        )
        self._context = context

    async def start(self) -> None:
        """There is nothing to wait for."""

    async def stop(self) -> None:
        """There is nothing of its own to let go of."""

    def summary(self) -> str:
        return f"{len(self._context.jobs.jobs(self.title))} jobs"

    async def copy(self, request: Request) -> Reply:
        topic = request.parameters["topic"]
        program = Program(
            f"{self.title}-{topic}",
            checkpoint_dir=Path(self._context.settings.text("directory") or "")
            / self.title
            / topic,
        )
        copy = f"{topic}{self._context.settings.text('suffix')}"
        program.stream(topic, value_type="value bigint").to(copy)
        plan = program.plan()
        plan = replace(plan, settings=replace(plan.settings, cluster=self._context.cluster))
        try:
            await asyncio.to_thread(
                self._context.jobs.start, f"{self.title}-{topic}", plan, owner=self.title
            )
        except PlanError as failure:
            raise HttpError(422, 422, str(failure)) from failure
        return answer({"copy": copy})

    async def jobs(self, _: Request) -> Reply:
        mine = self._context.jobs.jobs(self.title)
        return answer([{"name": job.name, "state": job.state.value} for job in mine])


_INTERFACE: Interface[Route] = Interface(
    "Copies",
    [
        Route("POST", "/copies/{topic}", CopyService.copy, "Copy a topic", "Copy"),
        Route("GET", "/copies", CopyService.jobs, "All jobs", "Copies", changes=True),
    ],
)

COPIER = CopySparkService("copier")
MIRROR = CopySparkService("mirror")
