"""Every package is on the map, and under the rules that hold for all of them."""

from __future__ import annotations

import ast
import re
import tomllib

from tests.docs_page import ROOT

ON_TOP = {"cli", "testing"}
PACKAGES = {path.parent.name for path in (ROOT / "src" / "headwater").glob("*/__init__.py")}


def sources(contract: str) -> set[str]:
    """The packages that a contract of the import rules is about."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    (found,) = [each for each in contracts if each["name"] == contract]
    return {module.removeprefix("headwater.") for module in found["source_modules"]}


def test_the_map_has_every_package() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    _, tree, *_ = page.split("```")
    assert PACKAGES - {*re.findall(r"^  (\w+)/", tree, re.MULTILINE)} == set()


def test_nobody_imports_the_platform_or_what_is_on_top() -> None:
    assert PACKAGES - {"up", "cli"} == sources("only the command line knows the platform")
    above = "the command line and the users' tests are on top: nobody imports them"
    assert sources(above) == PACKAGES - ON_TOP


def test_keys_go_where_javas_clients_put_them_whoever_writes() -> None:
    # confluent-kafka has another hash by default; `ClusterAccess.producer` has Java's.
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for folder in ("src", "examples")
        for path in (ROOT / folder).rglob("*.py")
        if "Producer(" in (text := path.read_text())
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and _name(node.func) == "Producer"
        for settings in node.args
        if isinstance(settings, ast.Dict)
        for key in settings.keys
        if isinstance(key, ast.Constant) and key.value == "bootstrap.servers"
    ]
    assert found == []


def _name(called: ast.expr) -> str:
    return getattr(called, "id", getattr(called, "attr", ""))
