"""A browser without a screen, driven as a person would: looks, clicks, types, waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from tests.waiting import HUNG_AFTER_S, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from selenium.webdriver.remote.webelement import WebElement

DRIVER = "/usr/bin/chromedriver"
_OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--window-size=1280,860",
)

_TEXT = """\
return [...document.querySelectorAll(arguments[0])].map(each => each.innerText).join("\\n");"""
_FOUND = """\
const found = [...document.querySelectorAll(arguments[0])].find(each =>
  each.innerText.trim() === arguments[1] && each.offsetParent !== null && !each.disabled);
"""
_IS_ENABLED = f"{_FOUND} return Boolean(found);"
_IS_CONNECTED = "window.socket && window.socket.connected"
# A dialog takes the focus when it has come up: what is typed meanwhile could end in another box.
_IS_STILL = "!document.querySelector('.q-dialog__inner--animating')"
# A page that one has just come to can be seen before it hears what is done there.
_CLICK = f"""\
if (!({_IS_CONNECTED})) return false;
{_FOUND} if (found) found.click(); return Boolean(found);"""
_ITEMS = ".q-menu .q-item"
# What a page that changes by itself, or a dialog that still moves, brings.
_PASSING = ("stale element", "intercepted", "belong to the document", "not interactable")


class Browser:
    """Chromium, at the pages of one site."""

    def __init__(self, url: str) -> None:
        options = webdriver.ChromeOptions()
        for option in _OPTIONS:
            options.add_argument(option)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(DRIVER))
        self.driver.set_script_timeout(HUNG_AFTER_S)
        self.url = url

    def open(self, path: str, heading: str) -> None:
        """Go to a page, and wait until it is there and its buttons work."""
        self.driver.get(f"{self.url}{path}")
        self.sees(heading, "h1")
        self._hears()
        # On a busy machine a page is there before what it shows.
        wait_for(lambda: self.script("return document.querySelector('.hw-waiting') === null"))

    def _hears(self) -> None:
        """Wait until the page is connected to its console, and nothing moves there."""
        wait_for(
            lambda: self.script(f"return Boolean({_IS_CONNECTED} && {_IS_STILL})"),
            lambda: f"{self.path} is not connected, or a dialog moves there",
        )

    @property
    def path(self) -> str:
        """The address, without the site's own."""
        return str(self.driver.current_url).removeprefix(self.url)

    def text(self, selector: str = "main") -> str:
        """All that is written there; asked for at once, since pages change by themselves."""
        return str(self.script(_TEXT, selector))

    def sees(self, text: str, selector: str = "body") -> None:
        """Wait until a text is there."""
        wait_for(
            lambda: text in self.text(selector),
            lambda: f"'{text}' in {selector} of {self.path}:\n{self.text(selector)}",
        )

    def misses(self, text: str, selector: str = "main") -> None:
        """Wait until a text is gone."""
        wait_for(lambda: text not in self.text(selector), f"'{text}' is still in {selector}")

    def click(self, text: str, selector: str = "button, a") -> None:
        """Click what says this, as soon as it can be seen and clicked."""
        wait_for(
            lambda: self.script(_CLICK, selector, text),
            lambda: f"'{text}' to click on {self.path}:\n{self.text()}",
        )

    def is_enabled(self, text: str, selector: str) -> bool:
        """Whether a button that says this can be clicked."""
        return bool(self.script(_IS_ENABLED, selector, text))

    def type(self, label: str, text: str) -> None:
        """Type into the box of this label, in place of what is there."""

        def typed() -> bool:
            self._hears()
            box = self.box(label)
            box.send_keys(Keys.CONTROL, "a")
            box.send_keys(Keys.DELETE)
            box.send_keys(text)
            return box.get_attribute("value") == text

        wait_for(lambda: _attempted(typed), f"'{text}' in the box '{label}' on {self.path}")

    def holds(self, label: str, text: str) -> None:
        """Wait until the box of this label holds a text."""
        wait_for(
            lambda: text in str(self.box(label).get_attribute("value")),
            f"'{text}' in the box '{label}' on {self.path}",
        )

    def choose(self, label: str, choice: str) -> None:
        """Choose from the list of this label, and wait until it shows the choice."""

        def field() -> WebElement:
            # The box itself lies below what it shows.
            return self.box(label).find_element(By.XPATH, "./ancestor::*[@for]")

        def opened() -> bool:
            self._hears()
            field().click()
            return True

        def chosen() -> bool:
            # A list that is just being drawn anew takes no notice of a click.
            if choice in field().text:
                return True
            self.script(_CLICK, _ITEMS, choice)
            return False

        wait_for(lambda: _attempted(opened), f"the list '{label}' on {self.path}")
        self.click(choice, _ITEMS)
        wait_for(
            lambda: _attempted(chosen),
            lambda: f"'{choice}' in the list '{label}' on {self.path}:\n{self.text('body')}",
        )

    def box(self, label: str) -> WebElement:
        """Return the box of this label that can be seen."""

        def found() -> list[WebElement]:
            named = f'//*[text()="{label}"]'
            query = f"//*[contains(@class, 'q-field') and @for]{named}/ancestor::*[@for]"
            return [
                element
                for field in self.driver.find_elements(By.XPATH, query)
                if field.is_displayed()
                for element in field.find_elements(By.CSS_SELECTOR, "input, textarea")
            ]

        first, *_ = wait_for(found, f"a box '{label}' on {self.path}")
        return first

    def script(self, code: str, *arguments: object) -> Any:
        """Return what a script in the page says."""
        return self.driver.execute_script(code, *arguments)

    def complaints(self) -> list[str]:
        """Return the errors of the browser's console since the last time."""
        log: list[dict[str, Any]] = self.driver.get_log("browser")  # type: ignore[no-untyped-call]
        return [str(each["message"]) for each in log if each["level"] in ("SEVERE", "ERROR")]

    def close(self) -> None:
        """End it."""
        self.driver.quit()


def _attempted(action: Callable[[], bool]) -> bool:
    """Do something with elements; False if the page changed meanwhile."""
    try:
        return action()
    except WebDriverException as failure:
        if not any(each in str(failure) for each in _PASSING):
            raise
        return False
