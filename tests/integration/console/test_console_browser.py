"""The console's pages of a cluster in a real browser: each action, and hostile records."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from tests.integration.console.what_is_there import HACK, HOSTILE, V2, V3
from tests.waiting import wait_for

if TYPE_CHECKING:
    from confluent_kafka import Message
    from tests.browser import Browser

pytestmark = pytest.mark.needs("chromium", "chromedriver")


def test_overview(browser: Browser) -> None:
    browser.open("/", "Overview")
    browser.sees("Nothing is wrong.")
    browser.sees("billing")
    assert "headwater up --status" in browser.text("code")


def test_topics_are_searched_on_the_server(browser: Browser) -> None:
    browser.open("/topics", "Topics")
    browser.sees("numbers", "table")
    browser.type("Search topics", "ORD eu")
    browser.misses("numbers", "table")
    assert "orders.eu" in browser.text("table")
    wait_for(lambda: browser.path == "/topics?q=ORD+eu")
    browser.open("/topics?prefix=orders.", "Topics")
    assert "orders-avro" not in browser.text("table")
    browser.click("show internal topics")
    browser.open("/topics?internal=1&sort=-records", "Topics")
    browser.sees("_schemas", "table")


def test_a_topic_is_created_filled_purged_and_deleted(browser: Browser) -> None:
    browser.open("/topics", "Topics")
    browser.click("New topic")
    browser.type("Name", "fresh")
    browser.type("Partitions", "3")
    browser.type("Settings, as NAME=VALUE on a line each", "retention.ms=1000000")
    browser.click("Create")
    browser.sees("fresh", "h1")
    browser.sees("There are no records here.")

    browser.click("Produce")
    browser.type("Key; empty for none", "k-1")
    browser.type("Value", '{"a": 1}')
    browser.type("Headers, as NAME: VALUE on a line each", "trace: 42")
    browser.click("Send")
    browser.sees("at offset 0", "h1")
    assert '"a": 1' in browser.text("pre")
    assert "trace: 42" in browser.text("pre")

    browser.open("/topics/fresh", "fresh")
    browser.click("Produce")
    browser.type("Key; empty for none", "k-1")
    browser.click("Tombstone (no value)", ".q-checkbox")
    browser.click("Send")
    browser.sees("at offset 1", "h1")
    browser.sees("null")

    browser.open("/topics/fresh/settings", "fresh")
    browser.sees("retention.ms")
    browser.click("Change a setting")
    browser.type("Setting, such as retention.ms", "retention.ms")
    browser.type("Value; empty takes the topic's own back", "2000000")
    browser.click("Change")
    browser.sees("2000000")

    browser.open("/topics/fresh/partitions", "fresh")
    browser.click("Purge")
    browser.type("Name", "fres")
    assert not browser.is_enabled("Purge", ".q-dialog button")
    browser.type("Name", "fresh")
    browser.click("Purge", ".q-dialog button")
    browser.sees("fresh is empty now.")
    # A dialog that still closes has a box of the same name.
    browser.misses("to go on", ".q-dialog")

    browser.click("Delete topic")
    browser.type("Name", "fresh")
    browser.click("Delete")
    browser.sees("Topics", "h1")
    browser.sees("orders", "table")
    assert "fresh" not in browser.text("table")


def test_records_are_paged_filtered_and_decoded(browser: Browser) -> None:
    browser.open("/topics/orders", "orders")
    seen: list[str] = []
    for label in ("Next page", "Next page", ""):
        browser.sees("shown, ")
        seen += [line for line in browser.text("td:nth-child(4)").splitlines() if line]
        if label:
            before = browser.path
            browser.click(label)
            wait_for(lambda: browser.path, until=before.__ne__)
    assert sorted(seen) == sorted(f"key-{number}" for number in range(120))
    browser.open("/topics/orders", "orders")
    browser.type("Where", "value.customer.city = city-3 and value.id < 9")
    browser.click("Search")
    browser.sees("2 shown, 120 looked at.")
    assert "where=value.customer.city" in browser.path
    browser.open("/topics/orders?start=earliest&contains=t5", "orders")
    browser.sees("11 shown")  # t5, and t50 to t59
    browser.open("/topics/orders?where=nonsense", "orders")
    browser.sees("'nonsense' is no condition")
    browser.open("/topics/orders-avro", "orders-avro")
    browser.sees('"city": "Lyon"')
    browser.open("/topics/numbers", "numbers")
    browser.sees("4711", "table")
    browser.open("/topics/nosuch", "nosuch")
    browser.sees("There is no topic 'nosuch'")


def test_columns_are_picked_from_fields(browser: Browser) -> None:
    browser.open("/topics/orders?where=value.id+%3C+9", "orders")
    browser.click("Columns")
    browser.click("value.customer.city", ".q-checkbox")
    browser.click("headers.trace", ".q-checkbox")
    browser.type("Others, such as value.items[0].price, with commas between them", "value.none")
    browser.click("Show")
    browser.sees("value.customer.city", "th")
    picked = "columns=value.customer.city%2Cheaders.trace%2Cvalue.none"
    assert browser.path == f"/topics/orders?where=value.id+%3C+9&{picked}"
    assert browser.text("th").splitlines()[3:] == picked.partition("=")[2].split("%2C")
    assert browser.text("td:nth-child(4)").splitlines().count("city-3") == 2
    assert sorted(browser.text("td:nth-child(5)").split()) == [f"t{n}" for n in range(9)]
    assert set(browser.text("td:nth-child(6)").split()) == {"-"}
    saved = "return [...document.querySelectorAll('a[href^=\"/api\"]')].map(a => a.href)"
    assert all(picked in each for each in browser.script(saved))
    browser.click("Columns")
    browser.click("Key and value")
    browser.sees("Value", "th")
    assert browser.path == "/topics/orders?where=value.id+%3C+9"
    browser.open("/topics/orders?columns=offset", "orders")
    browser.sees("'offset' is no column such as value.city")
    browser.open("/topics/hostile?columns=value,value.a,key", "hostile")
    for text in (*HOSTILE, f"<i>{HACK}</i>"):
        browser.sees(text, "table")


def test_a_record_is_copied_and_sent_again(browser: Browser, bootstrap_servers: str) -> None:
    browser.open("/topics/hostile/records/0/1", "hostile [0] at offset 1")
    # A person's click is leave enough, a driver's is not.
    granted = {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    browser.driver.execute_cdp_cmd("Browser.grantPermissions", {**granted, "origin": browser.url})
    browser.click("Copy as JSON")
    browser.sees("Copied.")
    read = "navigator.clipboard.readText().then(arguments[arguments.length - 1])"
    copied = wait_for(lambda: browser.driver.execute_async_script(read))
    record = json.loads(copied)
    assert (record["offset"], record["value"]) == (1, HOSTILE[1])

    browser.open("/topics/numbers/records/0/0", "numbers [0] at offset 0")
    browser.click("Send again")
    browser.click("Send", ".q-dialog button")
    browser.sees("numbers [0] at offset 1", "h1")
    browser.sees("4711", "pre")

    # Bytes of no text, a header that is null and an empty key: nothing is decoded on the way.
    sent = (b"\x00\xff", None, [("h", None), ("h", b"\xfe"), ("", b"")])
    producer = Producer({"bootstrap.servers": bootstrap_servers})
    producer.produce("numbers", sent[1], sent[0], headers=sent[2])
    assert producer.flush(30) == 0
    browser.open("/topics/numbers/records/0/2", "numbers [0] at offset 2")
    browser.click("Send again")
    browser.type("To the topic", "nosuch")
    browser.click("Send", ".q-dialog button")
    browser.sees("There is no topic 'nosuch'", ".q-dialog")
    browser.type("To the topic", "orders.eu")
    browser.type("Partition", "zero")
    browser.click("Send", ".q-dialog button")
    browser.sees("'zero' is no number of a partition", ".q-dialog")
    browser.type("Partition", "0")
    browser.click("Send", ".q-dialog button")
    browser.sees("orders.eu [0] at offset 0", "h1")
    again = _stored(bootstrap_servers, "orders.eu", 0)
    assert (again.key(), again.value(), again.headers()) == sent


def _stored(bootstrap_servers: str, topic: str, offset: int) -> Message:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap_servers,
            "group.id": "none",
            "enable.auto.commit": False,
        }
    )
    consumer.assign([TopicPartition(topic, 0, offset)])
    message = wait_for(lambda: consumer.poll(1), until=lambda found: found is not None)
    assert message is not None
    consumer.close()
    return message


def test_hostile_records_are_text(browser: Browser) -> None:
    browser.open("/topics/hostile", "hostile")
    for text in HOSTILE:
        browser.sees(text, "table")
    browser.script("document.querySelectorAll('details').forEach(each => each.open = true)")
    browser.sees("00 01 02 03", "pre")
    browser.open("/topics/hostile/records/0/0", "hostile [0] at offset 0")
    browser.sees(HOSTILE[0], "pre")
    browser.open("/topics/hostile/records/0/7", "hostile [0] at offset 7")
    browser.sees("Only the first part of 878.9 KiB is shown.")
    browser.open("/topics/%3Cscript%3Ealert(1)", "<script>alert(1)")
    browser.sees("is no topic name")


def test_a_live_tail(browser: Browser, bootstrap_servers: str) -> None:
    browser.open("/topics/orders.eu", "orders.eu")
    browser.click("Live tail")
    browser.sees("Waiting for new records")
    producer = Producer({"bootstrap.servers": bootstrap_servers})

    def comes() -> bool:
        # The tail starts at the end, in its own time.
        producer.produce("orders.eu", b"fresh news")
        producer.flush(30)
        return "fresh news" in browser.text("table")

    wait_for(comes)
    browser.click("Stop the tail")
    browser.sees("Live tail")


def test_a_group_is_moved(browser: Browser) -> None:
    browser.open("/groups?q=bill", "Groups")
    browser.click("billing", "table a")
    browser.sees("billing", "h1")
    browser.sees("Lag in records")
    browser.click("Reset offsets")
    browser.choose("Where to", "To the end")
    browser.click("Preview")
    browser.sees("Then", ".q-dialog table")
    browser.click("Reset")
    browser.sees("Lag in records\n0")


def test_schemas_side_by_side(browser: Browser) -> None:
    browser.open("/schemas", "Schemas")
    browser.click("orders-avro-value", "table a")
    browser.sees("Version 1", "table")
    assert "paid" in browser.text("td.added")
    browser.click("New version")
    browser.type("Schema", json.dumps(V3))
    browser.click("Check")
    browser.sees("It does not fit")
    compatible = {**V2, "doc": "An order"}
    browser.type("Schema", json.dumps(compatible))
    browser.click("Check")
    browser.sees("It fits")
    browser.click("Register")
    browser.sees("version 3")


def test_brokers(browser: Browser) -> None:
    browser.open("/brokers", "Brokers")
    browser.sees("controller")
    browser.sees("All replicas are in sync.")
