"""Runs the supervisor on fake services; the tests start it as a process and read what it says."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from headwater.up.health import HttpCheck
from headwater.up.log_lines import LogLines
from headwater.up.service import Endpoint, Service
from headwater.up.supervisor import Supervisor
from headwater.up.timing import Timing

FAKE = Path(__file__).with_name("fake_service.py")


def main() -> int:
    told: dict[str, Any] = json.loads(sys.argv[1])
    services = [service(told["journal"], **each) for each in told["services"]]
    log = LogLines([each.name for each in services], sys.stdout, colours=False)

    async def run() -> int:
        return await Supervisor(
            services,
            log,
            on_ready=lambda: log.say("READY"),
            timing=Timing(**told.get("timing", {})),
        ).run()

    return asyncio.run(run())


def service(
    journal: str,
    name: str,
    port: int,
    options: list[str] | None = None,
    depends_on: list[str] | None = None,
    program: str = sys.executable,
    stop_within_s: float = 20,
    held_by: str | None = None,
    asked_at: str = "127.0.0.1",
    endpoints: list[str] | None = None,
    is_essential: bool = True,
) -> Service:
    return Service(
        name=name,
        command=(
            *(program, str(FAKE), "--name", name, "--port", str(port), "--journal", journal),
            *(options or ()),
        ),
        endpoints=[
            Endpoint(each, f"127.0.0.1:{port}", "a fake", HttpCheck(asked_at, port))
            for each in endpoints or [name]
        ],
        is_essential=is_essential,
        depends_on=depends_on or (),
        stop_within_s=stop_within_s,
        is_wanted=lambda: held_by is None or not Path(held_by).exists(),
    )


if __name__ == "__main__":
    sys.exit(main())
