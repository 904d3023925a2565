"""The console's pages of services in a real browser: Connect, SQL, security, the tour."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from selenium.webdriver.common.keys import Keys
from tests.integration.console.what_is_there import HOSTILE
from tests.waiting import wait_for

if TYPE_CHECKING:
    from pathlib import Path

    from tests.browser import Browser

# Nothing here starts a JVM: connectors are stopped, and queries read a topic row by row.
pytestmark = pytest.mark.needs("chromium", "chromedriver")

HACK = HOSTILE[1]


def test_the_tour_of_the_plant(browser: Browser) -> None:
    """Each step leads to a page on which it can be done."""
    for title, seen in (
        ("Browse", "furnace-temperature"),
        ("Schema", "sensor_id"),
        ("Produce", "furnace-temperature"),
        ("Stream", "motor in error"),
    ):
        browser.open("/", "Overview")
        browser.click(title, ".hw-tour a")
        browser.sees(seen, "table, pre")
    browser.open("/", "Overview")
    browser.click("SQL", ".hw-tour a")
    browser.holds("Statements", "CREATE STREAM IF NOT EXISTS alerts")
    browser.click("Run")
    browser.sees("motor in error", "table")
    browser.open("/", "Overview")
    browser.click("Connect", ".hw-tour a")
    browser.holds("Name", "alerts-to-file")
    browser.click("Validate")
    browser.sees("It is valid.")
    browser.open("/", "Overview")
    browser.sees("Dismiss", "button")
    # It is kept with the click, not when the server has heard of it.
    kept = browser.script(
        "[...document.querySelectorAll('button')].find(each => each.innerText.trim() ==="
        " 'Dismiss').click(); return document.cookie"
    )
    assert "headwater_tour=done" in kept
    browser.misses("Five minutes", "body")
    browser.open("/", "Overview")
    assert "Five minutes" not in browser.text("body")


def test_a_connector_from_a_form(browser: Browser, tmp_path: Path) -> None:
    browser.open("/connect", "Connect")
    browser.sees("There are no connectors yet.")
    browser.click("New connector")
    browser.sees("New connector", "h1")
    browser.choose("Kind of connector", "FileStreamSource (source)")
    browser.sees("topic *")
    browser.sees("The topic to write to.")
    browser.type("Name", "lines")
    browser.choose("At first", "Stopped")
    browser.click("Validate")
    browser.sees("a topic is needed", ".q-field--error")
    browser.sees("It is refused;")
    browser.type("file *", str(tmp_path / "lines.txt"))
    browser.type("topic *", "lines")
    browser.click("Validate")
    browser.sees("It is valid.")
    browser.holds("Configuration as JSON", '"topic": "lines"')
    browser.click("Create")
    browser.sees("lines", "h1")
    browser.sees("stopped", ".hw-pill")

    browser.open("/connect?q=LIN", "Connect")
    browser.sees("FileStreamSourceConnector", "table")
    browser.click("lines", "table a")
    browser.click("Configuration")
    browser.sees(f'"file": "{tmp_path}/lines.txt"', "pre")
    browser.click("Offsets")
    browser.sees("It has no offsets yet.")


def test_a_connector_from_json_is_changed_and_deleted(browser: Browser) -> None:
    browser.open("/connect/new", "New connector")
    browser.choose("At first", "Stopped")
    browser.type("Configuration as JSON", "{")
    browser.click("Create")
    browser.sees("The configuration is no JSON")
    config = (
        f'{{"name": "{HACK}", "connector.class": "FileStreamSink", "file": "/tmp/a",'
        ' "topics": "orders", "headers.password": "secret"}'
    )
    browser.type("Configuration as JSON", config)
    browser.click("Create")
    browser.sees(HACK, "h1")
    browser.sees(f"connect-{HACK}")
    for drawn in ("orders", HACK[:20], "stopped", "/tmp/a", "target"):
        browser.sees(drawn, ".hw-wide")
    browser.click("Edit")
    browser.sees("Configuration of", "h1")
    browser.holds("Configuration as JSON", "[hidden]")
    browser.type("tasks.max", "many")
    browser.click("Save")
    browser.sees("not a whole number", ".q-field--error")
    browser.type("tasks.max", "2")
    browser.click("Save")
    browser.sees(HACK, "h1")
    browser.click("Pause")
    browser.sees("is paused.")
    browser.sees("paused", ".hw-pill")
    browser.click("Stop")
    browser.sees("stopped", ".hw-pill")
    browser.click("Offsets")
    browser.click("Reset offsets")
    browser.type("Name", HACK)
    browser.click("Reset", ".q-dialog button")
    browser.sees("offsets for this connector have been reset")
    browser.click("State")
    browser.click("Delete connector")
    browser.type("Name", HACK)
    browser.click("Delete", ".q-dialog button")
    browser.sees("Connect", "h1")
    browser.sees("1 in all")
    assert HACK not in browser.text("table")


def test_a_connector_that_is_not_there(browser: Browser) -> None:
    browser.open("/connect/connectors/nosuch", "nosuch")
    browser.sees("Connector nosuch not found")


SALES = """\
CREATE STREAM sales (id INT KEY, city STRING, amount DOUBLE)
  WITH (KAFKA_TOPIC='sales', VALUE_FORMAT='JSON', PARTITIONS=1);
INSERT INTO sales VALUES (1, 'Graz; -- no end', 9.5);
"""


def test_statements_and_rows_as_they_come(browser: Browser) -> None:
    browser.open("/sql", "SQL")
    browser.type("Statements", f"{SALES}INSERT INTO sales VALUES (2, '{HACK[:13]}', 3);")
    browser.click("Run")
    browser.sees("Stream created")
    browser.sees("Done.")
    browser.type("Statements", "SELECT id, city FROM sales;")
    browser.click("Run")
    browser.sees("2 rows")
    browser.sees("ended", ".hw-pill")
    browser.sees("Graz; -- no end", "table")

    browser.type("Statements", "SELECT * FROM sales WHERE amount > 5 EMIT CHANGES;")
    browser.click("Run")
    browser.sees("1 rows")
    browser.sees("live", ".hw-pill")
    browser.choose("Chart", "Bars")
    browser.choose("Across", "CITY")
    browser.choose("Up", "AMOUNT")
    browser.sees("Graz; -- no end", ".hw-plot")
    wait_for(lambda: browser.path.endswith("&chart=Bars&x=CITY&y=AMOUNT"))
    other = "INSERT INTO sales VALUES (3, 'Oslo', 70);"
    browser.script("window.open('/sql')")
    first, second = browser.driver.window_handles
    browser.driver.switch_to.window(second)
    browser.open("/sql", "SQL")
    browser.type("Statements", other)
    browser.click("Run")
    browser.sees("Done.")
    browser.driver.close()
    browser.driver.switch_to.window(first)
    browser.sees("Oslo", "table")
    browser.sees("Oslo", ".hw-plot")
    browser.click("Stop")
    browser.sees("ended", ".hw-pill")

    # Whoever gets the address sees the same, once they have run it.
    browser.open(browser.path, "SQL")
    browser.type("Statements", "SELECT city, amount, id FROM sales;")
    browser.click("Run")
    for city in ("Oslo", "Graz; -- no end", HACK[:13]):
        browser.sees(city, ".hw-plot")
    browser.choose("Chart", "No chart")
    browser.misses("Oslo", ".hw-plot")
    assert browser.path == "/sql?q=SELECT+city%2C+amount%2C+id+FROM+sales%3B"


def test_words_are_completed(browser: Browser) -> None:
    browser.open("/sql?q=", "SQL")
    browser.type("Statements", "SELECT * FROM sal")
    browser.click("SALES", ".hw-suggestions button")
    browser.holds("Statements", "SELECT * FROM SALES ")
    browser.box("Statements").send_keys("WHERE amo")
    browser.sees("AMOUNT", ".hw-suggestions")
    browser.box("Statements").send_keys(Keys.CONTROL, " ")
    browser.holds("Statements", "SELECT * FROM SALES WHERE AMOUNT ")


def test_what_is_wrong_with_a_statement_and_where(browser: Browser) -> None:
    browser.open("/sql?q=SELECT+nope+FROM+sales%3B", "SQL")
    browser.holds("Statements", "SELECT nope FROM sales;")
    browser.click("Run")
    browser.sees("there is no column NOPE", ".hw-note.error")
    browser.sees("^", ".hw-note.error pre")


def test_rights_and_users(browser: Browser) -> None:
    browser.open("/security", "Security")
    browser.sees("There are no ACLs")
    browser.click("Add a right")
    browser.type("Principal, such as User:ann", "ann")
    browser.type("Resource", "orders-")
    browser.choose("Operation", "WRITE")
    browser.choose("Named", "PREFIXED")
    browser.click("Add", ".q-dialog button")
    browser.sees("'ann' is no principal")
    browser.type("Principal, such as User:ann", "User:<b>ann</b>")
    browser.click("Add", ".q-dialog button")
    browser.sees("User:<b>ann</b>", "table")
    assert "orders-*" in browser.text("table")
    _matrix_and_reasons(browser)
    browser.open("/security", "Security")
    browser.click("Remove a right")
    browser.type("Principal, such as User:ann", "User:<b>ann</b>")
    browser.type("Resource", "orders-")
    browser.choose("Operation", "WRITE")
    browser.click("Remove", ".q-dialog button")
    browser.sees("There is no such right.")
    browser.choose("Named", "PREFIXED")
    browser.click("Remove", ".q-dialog button")
    browser.sees("There are no ACLs")

    browser.click("Users")
    browser.sees("Nobody has a password for SCRAM.")
    browser.click("New user, or new password")
    browser.type("Name", "bob")
    browser.click("Save")
    browser.sees("A user has a name and a password.")
    browser.type("Password", "bobs-secret")
    browser.click("Save")
    browser.sees("SCRAM-SHA-512")
    browser.click("Delete user")
    browser.type("Name", "bob")
    browser.click("Delete", ".q-dialog button")
    browser.sees("Nobody has a password for SCRAM.")

    browser.click("Quotas")
    browser.sees("There are no quotas: nobody is limited.")
    browser.click("Change a quota")
    browser.type("Name; empty for everybody else", "bob")
    browser.type("Value; empty takes it away", "fast")
    browser.click("Save")
    browser.sees("'fast' is not a number")
    browser.type("Value; empty takes it away", "1048576")
    browser.click("Save")
    browser.sees("1,048,576", "table")
    browser.click("Change a quota")
    browser.type("Name; empty for everybody else", "bob")
    browser.type("Value; empty takes it away", "")
    browser.click("Save")
    browser.sees("There are no quotas: nobody is limited.")
    browser.click("Certificates")
    browser.sees("None of the servers that this console speaks to speaks TLS")


def _matrix_and_reasons(browser: Browser) -> None:
    """See one right in the matrix, and what follows from it."""
    browser.click("Matrix")
    browser.sees("orders-*", "thead")
    browser.sees("prefix", "thead .hw-pill")
    browser.sees("User:<b>ann</b>", "tbody th")
    browser.sees("write", "tbody .hw-pill.good")
    browser.type("Search rights", "nobody")
    browser.sees("Nothing is found.")
    assert browser.path == "/security/matrix?q=nobody"
    browser.click("Who may")
    browser.type("Name", "orders-eu")
    browser.click("Show")
    browser.sees("everybody else", "table")
    browser.sees("User:ANONYMOUS", "table a")  # a super user
    assert browser.path == "/security/who?on=TOPIC&name=orders-eu"
    browser.click("User:<b>ann</b>", "table a")
    browser.sees("who may write may do this as well", "table")
    browser.sees("ALLOW User:<b>ann</b> WRITE TOPIC orders-*", "table")
    assert "may not" in browser.text("tbody tr:first-child")
    browser.type("Name", "bills")
    browser.click("Show")
    browser.sees("it has no ACLs", "table")


def test_streams_tables_and_topologies(browser: Browser) -> None:
    browser.open("/sql/queries", "SQL")
    browser.sees("No query runs.")
    browser.click("Editor")
    browser.sees("Statements")
    browser.open("/sql", "SQL")
    query = "EXPLAIN SELECT city, COUNT(*) FROM sales GROUP BY city EMIT CHANGES;"
    browser.type("Statements", query)
    browser.click("Run")
    browser.sees("aggregate", ".hw-panel")
    browser.click("Streams and tables")
    browser.click("SALES", "table a")
    browser.sees("SALES", "h1")
    browser.sees("DOUBLE", "table")
    browser.click("Drop it")
    browser.type("Name", "SALES")
    browser.click("Drop", ".q-dialog button")
    browser.sees("ALERTS", "table")
    assert "SALES" not in browser.text("table")
