"""Who may do what in the console: asked where changes are made, and written down."""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.docs_page import ROOT, blocks

import headwater.console.view
from headwater.config import ConfigError
from headwater.console.config import ConsoleConfig
from headwater.console.model.consoles import Consoles
from headwater.console.model.paging import Wanted
from headwater.console.model.records.questions import ConsoleError
from headwater.console.model.security.audit import AuditTrail
from headwater.console.model.security.roles import Action, Role

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from headwater.console.model.console import Console

WHO = {Role.VIEWER: "User:vi", Role.EDITOR: "User:ed", Role.ADMIN: "User:ann"}
ROLES = {"admin.users": "ann,root", "editor.users": "ed", "bootstrap.servers": "127.0.0.1:1"}
VIEWS = Path(headwater.console.view.__file__).parent


@pytest.fixture
def trail(tmp_path: Path) -> Path:
    return tmp_path / "audit.jsonl"


@pytest.fixture
def console(trail: Path) -> Iterator[Console]:
    console = _console({**ROLES, "audit.file": str(trail)})
    yield console
    console.stop()


def _console(settings: Mapping[str, str]) -> Console:
    return Consoles(ConsoleConfig.from_settings(settings)).first


def _attempt(console: Console, who: str, action: Action) -> list[str]:
    """Return what was done: the resource, or nothing where it was refused."""
    done: list[str] = []
    with suppress(ConsoleError):
        asyncio.run(console.change(who, action, "orders", done.append, "orders"))
    return done


def test_each_action_as_each_role(console: Console, trail: Path) -> None:
    of_admins = {"ADD_ACL", "REMOVE_ACL", "SET_PASSWORD", "DELETE_USER", "ALTER_QUOTA"}
    of_admins |= {"START_NODE", "STOP_NODE"}
    for action in Action:
        least = Role.ADMIN if action.name in of_admins else Role.EDITOR
        for role, who in WHO.items():
            is_allowed = role >= least
            assert _attempt(console, who, action) == (["orders"] if is_allowed else []), (
                who,
                action,
            )
            assert console.may(who, action) is is_allowed
            last = json.loads(trail.read_text().splitlines()[-1])
            assert (last["principal"], last["operation"]) == (who, action.name)
            assert (last["allowed"], bool(last["error"])) == (is_allowed, not is_allowed)
    assert console.role("User:root") is Role.ADMIN
    assert console.role("User:nobody") is Role.VIEWER


def test_pages_name_an_action_for_all_that_they_change() -> None:
    """Nothing that changes something is asked for past `change`, and each action has a page."""
    text = "\n".join(each.read_text() for each in sorted(VIEWS.rglob("*.py")))
    calls = re.findall(r"\.change\(\s*[^,]+,\s*(\S+?),", text)
    assert calls
    assert {each for each in calls if not each.startswith("Action.")} == set()
    assert {each.removeprefix("Action.") for each in calls} == {each.name for each in Action}
    verbs = r"create|delete|purge|set|produce|send|move|register|configure|act|drop|add|remove"
    assert re.findall(rf"\.ask\([\w.]+\.({verbs})\b", text) == []


def test_a_console_that_only_shows() -> None:
    console = _console({**ROLES, "read.only": "true"})
    for action in Action:
        assert _attempt(console, WHO[Role.ADMIN], action) == []
    console.stop()


def test_without_roles_everybody_may_do_everything() -> None:
    console = _console({"bootstrap.servers": "127.0.0.1:1"})
    assert all(console.may("User:ANONYMOUS", action) for action in Action)
    assert console.may_query("User:ANONYMOUS")
    console.stop()


def test_with_masks_only_admins_run_statements() -> None:
    given = {**ROLES, "masked.fields": "payments:value.card"}
    console = _console(given)
    allowed = [console.may(who, Action.RUN_STATEMENT) for who in WHO.values()]
    assert allowed == [console.may_query(who) for who in WHO.values()] == [False, False, True]
    assert console.may(WHO[Role.EDITOR], Action.PRODUCE)
    console.stop()


def test_the_trail_goes_on_after_a_restart(console: Console, trail: Path) -> None:
    def fail() -> None:
        raise ValueError("it cannot be")

    with pytest.raises(ConsoleError, match="It cannot be"):
        asyncio.run(console.change("User:ann", Action.DELETE_TOPIC, "orders", fail))
    with trail.open("a") as file:
        file.write("nonsense\n")
    again = _console({**ROLES, "audit.file": str(trail)})
    _attempt(again, "User:ed", Action.PRODUCE)
    newest, oldest = again.audit.page(Wanted()).items
    assert (newest.principal, newest.operation, newest.error) == ("User:ed", "PRODUCE", "")
    assert (oldest.operation, oldest.allowed, oldest.error) == (
        "DELETE_TOPIC",
        True,
        "It cannot be.",
    )
    assert again.audit.page(Wanted("delete ann")).found == 1
    again.stop()


def test_what_happened_within_a_millisecond_stays_in_order() -> None:
    trail = AuditTrail()
    for number in range(200, 0, -1):
        trail.note("User:ed", Action.PRODUCE, f"t{number}", "", allowed=True)
    shown = [event.resource for event in trail.page(Wanted()).items]
    assert shown == [f"t{number}" for number in range(1, 51)]


def test_a_trail_that_cannot_be_written(tmp_path: Path) -> None:
    config = ConsoleConfig.from_settings({"audit.file": str(tmp_path / "no" / "audit")})
    with pytest.raises(ConfigError, match="No such file"):
        config.audit_trail()


def test_the_settings_of_the_documentation(tmp_path: Path) -> None:
    (block,) = blocks(ROOT / "docs/console.md", "properties")
    given = dict(line.split("=", 1) for line in block.splitlines() if line)
    config = ConsoleConfig.from_settings({**given, "audit.file": str(tmp_path / "audit")})
    assert given["audit.file"].endswith(".jsonl")
    assert config.cluster.masks
    names = ("User:ann", "User:bob", "User:eve", "User:dan")
    found = [config.cluster.roles.of(name) for name in names]
    assert found == [Role.ADMIN, Role.EDITOR, Role.EDITOR, Role.VIEWER]
