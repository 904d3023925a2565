"""Revenue of each month: over all history as a batch, and from then on live.

headwater run examples/kappa/program.py --once
headwater run examples/kappa/program.py
"""

from typing import Any

from headwater.streams import App, count, expr, sum

SALES = "sales"
REVENUE = "monthly-revenue"


def monthly_revenue(name: str = "kappa", revenue: str = REVENUE, **settings: Any) -> App:
    """Return the program; whoever replays history beside a running one gives it another name."""
    app = App(name, guarantee="exactly_once", **settings)
    sales = app.stream(SALES, value_type="quantity bigint, price bigint, at timestamp")
    months = sales.group_by("date_format(at, 'yyyy-MM')")
    totals = months.aggregate(sales=count(), revenue=sum(expr("quantity * price")))
    totals.to_stream().to(revenue, value="json")
    return app


app = monthly_revenue()
