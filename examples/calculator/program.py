"""How the calculators are used: how often each operation was asked for, and how often in vain.

headwater run examples/calculator/program.py
"""

from headwater.streams import App, count, sum

app = App("calculator")

(
    app.stream("calculations", value_type="operation string, error string")
    .map_values(operation="operation", failed="CASE WHEN error IS NULL THEN 0L ELSE 1L END")
    .group_by("operation")
    .aggregate(asked=count(), failed=sum("failed"))
    .to_stream()
    .to("operations", value="json")
)
