"""The console as all people can use it, in light and dark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.accessibility import violations
from tests.waiting import wait_for

if TYPE_CHECKING:
    from tests.browser import Browser

pytestmark = pytest.mark.needs("chromium", "chromedriver")

IS_DARK = "return document.body.classList.contains('body--dark')"
SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
LIGHT = (
    *("/", "/topics", "/topics/orders", "/topics/orders/partitions", "/topics/orders/settings"),
    *("/groups", "/groups/billing", "/schemas", "/schemas/orders-avro-value", "/brokers"),
    *("/connect", f"/connect/new?class={SOURCE}", "/sql", "/sql/sources", "/sql/queries"),
    *("/pipelines", "/security", "/security/users", "/security/quotas", "/audit"),
)
DARK = ("/", "/topics/orders", "/groups/billing", "/sql")


@pytest.mark.needs("npm")
def test_nothing_keeps_people_from_using_a_page(browser: Browser) -> None:
    browser.open("/", "Overview")
    for theme, pages in (("light", LIGHT), ("dark", DARK)):
        browser.script(f"document.cookie = 'headwater_theme={theme}; path=/'")
        for path in pages:
            browser.open(path, "")
            wait_for(lambda: browser.script(IS_DARK), until=(theme == "dark").__eq__)
            assert violations(browser) == [], (theme, path)


def test_dark_and_light(browser: Browser) -> None:
    browser.open("/", "Overview")
    for name, is_dark in (("Dark", True), ("Light", False)):
        browser.script("document.querySelector('[aria-label=Theme]').click()")
        browser.click(name, ".q-menu .q-item")
        wait_for(lambda: browser.script(IS_DARK), until=is_dark.__eq__)
        browser.open("/", "Overview")
        wait_for(lambda: browser.script(IS_DARK), until=is_dark.__eq__)
