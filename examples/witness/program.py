"""Move-ins go to the tax department.

    headwater run examples/witness/program.py

A record without a value says that a person is to be forgotten: it is passed on, so that whoever was
told of the person is told of that, too.
"""

from headwater.streams import App

EVENTS, TAX_DEPARTMENT = "mysql-01-events", "tax-department"

app = App("witness", guarantee="exactly_once")

events = app.stream(EVENTS, value="string")
events.filter("value IS NULL OR value LIKE '%<eCH-0020:moveIn>%'").to(
    TAX_DEPARTMENT, value="string"
)
