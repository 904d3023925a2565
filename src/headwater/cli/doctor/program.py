"""Looks at a stream processing program: whether it can be built, and finds what it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cli.doctor.finding import Finding, Level
from headwater.clients.errors import ClientError
from headwater.plan.checks import check_plan
from headwater.plan.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from headwater.clients import ClusterAccess
    from headwater.plan.plan import Plan

AREA = "program"


def look_at_program(program: Path, access: ClusterAccess) -> Iterator[Finding]:
    """Return whether a program would start; nothing is started, and no topic is made."""
    from headwater.cli.run.program import ProgramError, load_app

    try:
        app = load_app(program)
        plan = app.plan()
        check_plan(plan)
    except (ProgramError, PlanError) as failure:
        yield Finding(AREA, Level.PROBLEM, str(failure), f"Mend {program}")
        return
    reads = sorted({topic for source in plan.topic_sources() for topic in source.topics})
    yield Finding(AREA, Level.OK, f"{app.name} can be built; it reads {', '.join(reads)}")
    yield from _topics(plan, access)


def _topics(plan: Plan, access: ClusterAccess) -> Iterator[Finding]:
    from headwater.spark.cluster import Cluster

    try:
        missing = Cluster(access).missing_sources(plan)
    except ClientError as failure:
        yield Finding(AREA, Level.PROBLEM, f"its cluster: {failure}")
        return
    for unknown in missing:
        yield Finding(AREA, Level.PROBLEM, str(unknown), "Create it, or mend the name")
    if not missing:
        yield Finding(AREA, Level.OK, "all topics that it reads are there")
