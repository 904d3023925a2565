"""What was sold: by product, by salesman and by month.

headwater run examples/sales/program.py
"""

from headwater.streams import App, count, expr, sum

SALES = "sales"
PRODUCTS, SALESMEN, MONTHS = "sales-by-product", "sales-by-salesman", "sales-by-month"

app = App("sales", guarantee="exactly_once")
sales = app.stream(
    SALES,
    value_type="product string, salesman string, quantity bigint, price bigint, at timestamp",
    timestamp_by="at",
)
totals = {"sales": count(), "revenue": sum(expr("quantity * price"))}

sales.group_by("product").aggregate(totals).to_stream().to(PRODUCTS, value="json")
sales.group_by("salesman").aggregate(totals).to_stream().to(SALESMEN, value="json")
months = sales.group_by("date_format(at, 'yyyy-MM')")
months.aggregate(totals).to_stream().to(MONTHS, value="json")
