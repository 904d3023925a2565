"""A shop: a till that books sales, a report of what sold best, and a forecast for a year.

python -m examples.sales
"""

from __future__ import annotations

import json
import math
import random
import time
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from examples.sales import history
from examples.sales.forecast import FORECASTS
from examples.sales.program import MONTHS, PRODUCTS, SALES, SALESMEN
from examples.serving import ask
from examples.stage import StoppedError, stage

from headwater.processes.ports import FreePorts

if TYPE_CHECKING:
    from examples.stage import Program, Stage

YEARS = 2
A_DAY = 10
_COMPACTED = {"cleanup.policy": "compact"}


@click.command()
@click.option("--seconds", type=click.FloatRange(min=0), help="Stop by itself after so long.")
def main(seconds: float | None) -> None:
    """Sell until Ctrl-C."""
    try:
        with stage("sales") as platform, closing(FreePorts("127.0.0.1")) as ports:
            deadline = time.monotonic() + (math.inf if seconds is None else seconds)
            platform.create_topics(SALES, FORECASTS)
            platform.create_topics(PRODUCTS, SALESMEN, MONTHS, config=_COMPACTED)
            now = datetime.now(UTC)
            past = history.sales(random.Random(), now - timedelta(days=365 * YEARS), now, A_DAY)
            click.echo(f"{history.write(platform.servers, past)} sales of {YEARS} years")
            till, report = ports.pick(), ports.pick()
            with ExitStack() as running:
                for program in (
                    platform.program(Path(__file__).with_name("program.py")),
                    platform.start("examples.sales.till", "--port", str(till)),
                    platform.start("examples.sales.report", "--port", str(report)),
                ):
                    running.enter_context(program)
                forecast = running.enter_context(platform.start("examples.sales.forecast"))
                click.echo(f"till    http://127.0.0.1:{till}/sales")
                click.echo(f"report  http://127.0.0.1:{report}/report\n")
                _sell(platform, till, report, forecast, deadline)
    except StoppedError:
        return


def _sell(platform: Stage, till: int, report: int, forecast: Program, deadline: float) -> None:
    told: Any = None
    while not platform.stop.wait(0.5) and time.monotonic() < deadline:
        ask(f"http://127.0.0.1:{till}/sales", history.sale(random.Random(), datetime.now(UTC)))
        for line in forecast.said():
            click.echo(f"forecast  {line}")
        best = ask(f"http://127.0.0.1:{report}/report?top=1")
        if best is not None and best["products"] and best != told:
            told = best
            click.echo(f"{json.dumps(best['products'][0])} {json.dumps(best['salesmen'][0])}")


if __name__ == "__main__":
    main()
