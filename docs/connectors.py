"""Writes the connectors' properties into their pages: `python docs/connectors.py`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from headwater.config.documentation import markdown_table
from headwater.connect.connectors.plugins import PLUGINS
from headwater.connect.connectors.python import PythonSourcePlugin

HERE = Path(__file__).parent
PAGES = tuple(
    HERE / f"connect-{name}.md"
    for name in ("cdc", "elasticsearch", "file", "http", "jdbc", "mqtt", "python", "s3")
)

_TABLE = re.compile(r"<!-- properties of (\w+) -->\n.*?<!-- end -->", re.DOTALL)


def page(path: Path) -> str:
    """Return a page with the properties as the definitions have them."""
    definitions = {each.definitions.service: each.definitions for each in PLUGINS}
    definitions["PythonSource"] = PythonSourcePlugin.definitions

    def table(found: re.Match[str]) -> str:
        properties = definitions[found[1]]
        written = markdown_table(properties[name] for name in properties)
        return f"<!-- properties of {found[1]} -->\n{written}<!-- end -->"

    return _TABLE.sub(table, path.read_text(encoding="utf-8"))


def main() -> int:
    """Write all pages."""
    for path in PAGES:
        path.write_text(page(path), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
