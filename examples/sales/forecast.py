"""The forecast: revenue of the next twelve months, out of all sales, published as an event.

    python -m examples.sales.forecast

A line through the revenue of all months that are over, times what each month of the year usually
makes of it. Spark reads the topic from its beginning to its end; nothing of it comes to Python but
the twelve numbers.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click
from examples.event_log import EventWriter
from examples.sales.topic import read_sales
from examples.serving import broker

from headwater.spark.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FORECASTS = "revenue-forecasts"
MONTHS = 12

# Months are numbers, so that a line can be laid through them: 12 times the year, plus the month.
_FORECAST = """
WITH sale AS (
  SELECT 12 * year(at) + month(at) - 1 AS month, quantity * price AS amount FROM {sales}
), month AS (
  SELECT month, sum(amount) AS revenue FROM sale WHERE month < {now} GROUP BY month
), line AS (
  SELECT coalesce(regr_slope(revenue, month), 0) AS slope,
         coalesce(regr_intercept(revenue, month), avg(revenue)) AS start, count(*) AS months
  FROM month
), season AS (
  SELECT month % 12 AS of_year, avg(revenue / nullif(slope * month + start, 0)) AS factor
  FROM month CROSS JOIN line GROUP BY month % 12
), next AS (
  SELECT explode(sequence({now}, {now} + {months} - 1)) AS month
)
SELECT format_string('%d-%02d', cast(next.month DIV 12 AS int), cast(next.month % 12 + 1 AS int))
         AS month,
       cast(greatest(0, round((slope * next.month + start) * coalesce(factor, 1))) AS bigint)
         AS revenue,
       months
FROM next CROSS JOIN line LEFT JOIN season ON next.month % 12 = of_year
ORDER BY 1
"""


@click.command()
@broker
def main(bootstrap_server: str) -> None:
    """Make a forecast, and publish it."""
    spark = spark_session("revenue-forecast")
    try:
        event = publish(spark, bootstrap_server, datetime.now(UTC))
    finally:
        spark.stop()
    for month in event["months"]:
        click.echo(f"{month['month']}  {month['revenue'] / 100:14,.2f}")


def publish(spark: SparkSession, servers: str, now: datetime) -> dict[str, Any]:
    """Make a forecast from what was sold before this month, write it as an event, and return it."""
    event = forecast(spark, servers, now)
    EventWriter(servers, FORECASTS, "revenue-forecast").write(event["made"], event)
    return event


def forecast(spark: SparkSession, servers: str, now: datetime) -> dict[str, Any]:
    """Return the forecast as an event; raises ClickException where no month is over."""
    sales = read_sales(spark, servers)
    this_month = 12 * now.year + now.month - 1
    rows = spark.sql(_FORECAST, sales=sales, now=this_month, months=MONTHS).collect()
    if not rows or rows[0]["months"] == 0:
        raise click.ClickException("there is no month yet that is over: sell something first")
    months = [{"month": row["month"], "revenue": row["revenue"]} for row in rows]
    return {
        "made": now.isoformat(),
        "from_months": rows[0]["months"],
        "months": months,
        "revenue": sum(month["revenue"] for month in months),
    }


if __name__ == "__main__":
    main()
