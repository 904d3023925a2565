"""The console as all people can use it, in light and dark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)
from tests.accessibility import violations
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.browser import Browser

pytestmark = pytest.mark.needs("chromium", "chromedriver")

IS_DARK = "return document.body.classList.contains('body--dark')"
IS_STILL = "return document.getAnimations().length === 0"
SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
LIGHT = (
    *("/", "/topics", "/topics/orders", "/topics/orders/partitions", "/topics/orders/settings"),
    *("/groups", "/groups/billing", "/schemas", "/schemas/orders-avro-value", "/brokers"),
    *("/connect", f"/connect/new?class={SOURCE}", "/sql", "/sql/sources", "/sql/queries"),
    *("/pipelines", "/security", "/security/users", "/security/quotas", "/audit"),
    *("/security/matrix", "/security/who?name=orders", "/topics/orders?columns=value.id,key"),
    *("/topics/orders/records/0/0", "/connect/connectors/looks"),
)
DARK = (
    *("/", "/topics/orders", "/groups/billing", "/sql", "/security/matrix"),
    *("/security/who?name=orders&principal=User:ann", "/connect/connectors/looks"),
)
ROWS = """\
CREATE STREAM looks (id INT KEY, n INT)
  WITH (KAFKA_TOPIC='looks', VALUE_FORMAT='JSON', PARTITIONS=1);
INSERT INTO looks VALUES (1, 5);
SELECT * FROM looks;
"""


@pytest.fixture(scope="module")
def things(addresses: dict[str, str]) -> Iterator[None]:
    """What pages draw only where it is there: a right, and a connector."""
    admin = AdminClient({"bootstrap.servers": addresses["broker"]})
    prefixed = AclBinding(
        *(ResourceType.TOPIC, "orders", ResourcePatternType.PREFIXED, "User:ann", "*"),
        *(AclOperation.READ, AclPermissionType.ALLOW),
    )
    for added in admin.create_acls([prefixed]).values():
        added.result(30)
    config = {"connector.class": "FileStreamSink", "file": "/tmp/a", "topics": "orders"}
    body = {"name": "looks", "config": config, "initial_state": "STOPPED"}
    with httpx.Client(base_url=addresses["connect"], timeout=60) as connect:
        connect.post("/connectors", json=body).raise_for_status()
        yield
        connect.delete("/connectors/looks").raise_for_status()
    (removed,) = admin.delete_acls([AclBindingFilter(*_fields(prefixed))]).values()
    assert len(removed.result(30)) == 1


def _fields(acl: AclBinding) -> tuple[object, ...]:
    names = ("restype", "name", "resource_pattern_type", "principal", "host", "operation")
    return tuple(getattr(acl, name) for name in (*names, "permission_type"))


@pytest.mark.needs("npm")
@pytest.mark.usefixtures("things")
def test_nothing_keeps_people_from_using_a_page(browser: Browser) -> None:
    browser.open("/", "Overview")
    for theme, pages in (("light", LIGHT), ("dark", DARK)):
        browser.script(f"document.cookie = 'headwater_theme={theme}; path=/'")
        for path in pages:
            browser.open(path, "")
            wait_for(lambda: browser.script(IS_DARK), until=(theme == "dark").__eq__)
            assert violations(browser) == [], (theme, path)


@pytest.mark.needs("npm")
def test_nothing_keeps_people_from_what_opens_on_a_page(browser: Browser) -> None:
    browser.open("/topics/orders", "orders")
    browser.click("Columns")
    browser.sees("value.customer.city", ".q-dialog .q-checkbox")
    wait_for(lambda: browser.script(IS_STILL))
    assert violations(browser) == []
    browser.open("/topics/orders/records/0/0", "orders [0] at offset 0")
    browser.click("Send again")
    browser.sees("To the topic", ".q-dialog")
    wait_for(lambda: browser.script(IS_STILL))
    assert violations(browser) == []
    browser.open("/sql?chart=Bars", "SQL")
    browser.type("Statements", ROWS)
    browser.click("Run")
    browser.sees("ID", ".hw-plot")
    assert violations(browser) == []


def test_dark_and_light(browser: Browser) -> None:
    browser.open("/", "Overview")
    for name, is_dark in (("Dark", True), ("Light", False)):
        browser.script("document.querySelector('[aria-label=Theme]').click()")
        browser.click(name, ".q-menu .q-item")
        wait_for(lambda: browser.script(IS_DARK), until=is_dark.__eq__)
        browser.open("/", "Overview")
        wait_for(lambda: browser.script(IS_DARK), until=is_dark.__eq__)
