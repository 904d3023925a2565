"""What keeps people from using a page, as axe sees it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests import node_packages

if TYPE_CHECKING:
    from tests.browser import Browser

_AXE = Path(__file__).with_name("integration") / "axe"
_RUN = """\
const done = arguments[arguments.length - 1];
axe.run({resultTypes: ["violations"]}).then(found =>
  done(found.violations.map(each => [each.id, each.nodes[0].html])));"""


def violations(browser: Browser) -> list[list[str]]:
    """Return what is wrong with the page that is open: the rule, and an element."""
    node_packages.install(_AXE)
    browser.script((_AXE / "node_modules" / "axe-core" / "axe.min.js").read_text())
    found: list[list[str]] = browser.driver.execute_async_script(_RUN)
    return found
