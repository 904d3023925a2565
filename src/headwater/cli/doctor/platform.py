"""Looks at the platforms that run on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.cli.doctor.finding import Finding, Level
from headwater.cli.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.up.running import RunningPlatform

AREA = "platform"


def look_at_platforms() -> Iterator[Finding]:
    """Return how the services are of all platforms of this user."""
    from headwater.up.running import all_running

    running = all_running()
    if not running:
        advice = "headwater up starts one"
        yield Finding(AREA, Level.NOTE, "no platform runs on this machine", advice)
    for each in running:
        yield from _platform(each)


def _platform(running: RunningPlatform) -> Iterator[Finding]:
    from headwater.cli.up.status import ask_status

    try:
        document = ask_status(running)
    except CommandError as failure:
        advice = f"Look at process {running.pid}, and at its log"
        yield Finding(AREA, Level.PROBLEM, str(failure), advice)
        return
    services = document["services"]
    well = [each["name"] for each in services if each["state"] == "healthy"]
    if well:
        text = f"healthy in {running.data}: {', '.join(well)}"
        yield Finding(AREA, Level.OK, text)
    yield from (_unwell(each) for each in services if each["state"] != "healthy")


def _unwell(service: dict[str, Any]) -> Finding:
    reason = service["reason"] or service["last_exit"]
    text = f"{service['name']} is {service['state']}" + (f": {reason}" if reason else "")
    is_coming = service["state"] in ("waiting", "starting")
    advice = "" if is_coming else "Its last lines are in: headwater up --status --json"
    return Finding(AREA, Level.NOTE if is_coming else Level.PROBLEM, text, advice)
