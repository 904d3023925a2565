"""Takes the pictures of docs/console.md: `python -m docs.console_pictures`, with Chromium there."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from tests.browser import Browser
from tests.unit.up.supervised import Supervised
from tests.waiting import wait_for

from headwater.serde import Schema, SchemaRegistryClient

DOCS = Path(__file__).parent
CITIES = ("Berlin", "Oslo", "Lyon", "Graz", "Turin")
TOPICS = {
    "orders": 6,
    "orders.enriched": 3,
    "payments.eu.settled": 3,
    "payments.eu.failed": 3,
    "payments.us.settled": 3,
    "machines.temperature": 4,
    "machines.vibration": 4,
}
ID, CITY = {"name": "id", "type": "long"}, {"name": "city", "type": "string"}
AMOUNT = {"name": "amount", "type": ["null", "double"], "default": None}

STREAM = """\
CREATE STREAM orders (id INT, customer STRUCT<id INT, city STRING>, amount DOUBLE)
  WITH (KAFKA_TOPIC='orders', VALUE_FORMAT='JSON');"""
QUERY = """\
SELECT id, customer->city AS city, amount
FROM orders
WHERE amount > 240
EMIT CHANGES;"""

TABLE = """\
CREATE TABLE large_orders AS
  SELECT customer->city AS city, COUNT(*) AS orders FROM orders
  WHERE amount > 100 GROUP BY customer->city EMIT CHANGES;"""

OPEN_PROGRAM = """\
const program = document.querySelector('table a[href^="/pipelines/sql"]');
if (program) program.click();
return Boolean(program);"""


def main() -> None:
    """Run a platform, fill it, and look at it."""
    with tempfile.TemporaryDirectory() as directory:
        command = [
            sys.executable,
            "-m",
            "headwater",
            "up",
            "--free-ports",
            "--with",
            "monitor,connect,sql",
        ]
        with Supervised([*command, "--data", f"{directory}/data"], Path(directory)) as platform:
            url = platform.wait_for(r"^console\t(\S+)\t")[1]
            platform.wait_for(r"console listening on")
            addresses = dict(line.split("\t")[:2] for line in platform.lines if "\t" in line)
            _fill(addresses["broker"], addresses["registry"])
            _take(url)


def _take(url: str) -> None:
    browser = Browser(url)
    browser.open("/topics/orders?where=value.customer.city+%3D+Graz", "orders")
    browser.sees("shown, ")
    browser.driver.save_screenshot(str(DOCS / "console-records.png"))
    browser.open("/schemas/orders-value", "orders-value")
    browser.sees("Version 2", "table")
    browser.driver.save_screenshot(str(DOCS / "console-schemas.png"))
    browser.open("/sql", "SQL")
    browser.type("Statements", STREAM)
    browser.click("Run")
    browser.sees("Stream created")
    browser.type("Statements", QUERY)
    browser.click("Run")
    browser.sees("live", ".hw-pill")
    browser.sees("Graz", "table")
    for label, choice in (("Chart", "Bars"), ("Across", "CITY"), ("Up", "AMOUNT")):
        browser.choose(label, choice)
    browser.sees("Graz", ".hw-plot")
    browser.driver.save_screenshot(str(DOCS / "console-sql.png"))
    kind = "io.confluent.connect.jdbc.JdbcSourceConnector"
    browser.open(f"/connect/new?class={kind}", "New connector")
    browser.type("Name", "shop")
    browser.type("connection.url *", "jdbc:postgresql://localhost/shop")
    browser.click("Validate")
    browser.sees("It is refused;")
    browser.driver.save_screenshot(str(DOCS / "console-connect.png"))
    browser.script("document.cookie = 'headwater_theme=dark; path=/'")
    browser.open("/", "Overview")
    browser.misses("Measuring")
    browser.sees("billing")
    browser.driver.save_screenshot(str(DOCS / "console-overview.png"))
    browser.script("document.cookie = 'headwater_theme=light; path=/'")
    browser.open("/sql", "SQL")
    browser.type("Statements", TABLE)
    browser.click("Run")
    browser.sees("Created query")
    browser.open("/pipelines", "Pipelines")
    wait_for(lambda: browser.script(OPEN_PROGRAM), "a program that tells of itself")
    browser.sees("rows of state", ".hw-wide")
    browser.driver.save_screenshot(str(DOCS / "console-pipelines.png"))
    browser.close()


def _fill(bootstrap_servers: str, registry_url: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap_servers})
    made = admin.create_topics([NewTopic(name, count, 1) for name, count in TOPICS.items()])
    for future in made.values():
        future.result(30)
    producer = Producer({"bootstrap.servers": bootstrap_servers})
    for number in range(5_000):
        order = {
            "id": number,
            "customer": {"id": number % 97, "city": CITIES[number % 5]},
            "amount": round(number * 0.37 % 250, 2),
        }
        producer.produce("orders", json.dumps(order), f"customer-{number % 97}")
    producer.flush(30)
    with SchemaRegistryClient(registry_url) as registry:
        for fields in ([ID, CITY], [ID, CITY, AMOUNT]):
            schema = {"type": "record", "name": "Order", "fields": fields}
            registry.register_schema("orders-value", Schema(json.dumps(schema)))
    settings = {"bootstrap.servers": bootstrap_servers, "group.id": "billing"}
    consumer = Consumer({**settings, "auto.offset.reset": "earliest"})
    consumer.subscribe(["orders"])
    while not consumer.poll(1):
        pass
    consumer.commit(asynchronous=False)
    consumer.close()


if __name__ == "__main__":
    main()
