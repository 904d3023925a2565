"""A year of sales as a batch, then live, by one program; and the Lambda version beside it.

python -m examples.kappa
"""

from __future__ import annotations

import random
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click
from examples.kappa.lambda_version.batch import run_batch
from examples.kappa.lambda_version.serving import served
from examples.kappa.lambda_version.speed import speed_layer, speed_topic
from examples.kappa.program import REVENUE, SALES, monthly_revenue
from examples.kappa.table import read_table
from examples.sales import history
from examples.stage import StoppedError, stage

from headwater.spark.jobs.job import Job
from headwater.spark.session import spark_session

if TYPE_CHECKING:
    from collections.abc import Callable

    from examples.stage import Stage
    from pyspark.sql import SparkSession

    from headwater.streams import App

YEAR = timedelta(days=365)
LIVE = 200


@click.command()
@click.option("--sales", "a_day", type=int, default=50, show_default=True, help="Sales a day.")
def main(a_day: int) -> None:
    """Work a year out in both ways, and compare."""
    try:
        with stage("kappa") as platform:
            platform.create_topics(SALES)
            platform.create_topics(REVENUE, config={"cleanup.policy": "compact"})
            past = history.sales(
                random.Random(), datetime.now(UTC) - YEAR, datetime.now(UTC), a_day
            )
            click.echo(f"history: {history.write(platform.servers, past)} sales of a year")
            spark = spark_session("kappa", conf={"spark.ui.enabled": "false"})
            try:
                _compare(platform, spark)
            finally:
                spark.stop()
    except StoppedError:
        return


def _compare(platform: Stage, spark: SparkSession) -> None:
    servers, view = platform.servers, platform.data / "batch-view.json"

    def settings(name: str) -> dict[str, Any]:
        return {"bootstrap_servers": servers, "checkpoint_dir": platform.data / "jobs" / name}

    kappa = monthly_revenue(**settings("kappa"))
    _timed("Kappa: history, as a batch", lambda: run(kappa, spark))
    until = _timed("Lambda: history, in the batch layer", lambda: run_batch(spark, servers, view))
    platform.create_topics(speed_topic(until), config={"cleanup.policy": "compact"})
    chance = random.Random()
    history.write(servers, (history.sale(chance, datetime.now(UTC)) for _ in range(LIVE)))
    _timed("Kappa: what came since, by the same program", lambda: run(kappa, spark))
    speed = speed_layer(until, **settings("speed"))
    _timed("Lambda: what came since, in the speed layer", lambda: run(speed, spark))
    for month, row in read_table(servers, REVENUE).items():
        click.echo(f"{month}  {row['sales']:6}  {row['revenue'] / 100:14,.2f}")
    same = read_table(servers, REVENUE) == served(servers, view)
    click.echo("Both say the same." if same else "They differ!")


def run(app: App, spark: SparkSession) -> None:
    """Run a program over what there is, as `headwater run --once` does."""
    job = Job(app.plan(), once=True)
    job.start(spark)
    try:
        job.wait()
    finally:
        job.stop()


def _timed(what: str, do: Callable[[], Any]) -> Any:
    begun = time.monotonic()
    result = do()
    click.echo(f"{what}: {time.monotonic() - begun:.1f} s")
    return result


if __name__ == "__main__":
    main()
