"""The speed layer: revenue of each month since the batch view ended.

The same sums once more, in another language. Each batch view needs a speed layer of its own, which
begins where that one ends.
"""

from __future__ import annotations

from typing import Any

from examples.kappa.program import SALES

from headwater.streams import App, count, expr, sum


def speed_topic(since: int) -> str:
    """Return the topic of the speed view that begins here."""
    return f"monthly-revenue-since-{since}"


def speed_layer(since: int, **settings: Any) -> App:
    """Return the program that follows a batch view."""
    app = App(f"lambda-speed-{since}", guarantee="exactly_once", **settings)
    sales = app.stream(
        SALES,
        value_type="quantity bigint, price bigint, at timestamp",
        start={SALES: {0: since}},
    )
    months = sales.group_by("date_format(at, 'yyyy-MM')")
    totals = months.aggregate(sales=count(), revenue=sum(expr("quantity * price")))
    totals.to_stream().to(speed_topic(since), value="json")
    return app
