"""Several clusters in one console: their settings, their rights, and one that is silent."""

from __future__ import annotations

import asyncio
import socket
import threading
from typing import TYPE_CHECKING

import pytest
from tests.docs_page import ROOT, blocks

from headwater.clients.errors import ClientError
from headwater.config import ConfigError
from headwater.config.toml import parse_toml
from headwater.console.config import ConsoleConfig
from headwater.console.model.consoles import Consoles
from headwater.console.model.paging import Wanted
from headwater.console.model.records.questions import ConsoleError
from headwater.console.model.security.roles import Action, Role
from headwater.console.model.shared_answer import SharedAnswer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.console.model.console import Console

GIVEN = {
    "bootstrap.servers": "127.0.0.1:1",
    "cluster.name": "home",
    "admin.users": "ann",
    "masked.fields": "*:headers.token",
    "clusters.west.bootstrap.servers": "127.0.0.1:2,127.0.0.1:3",
    "clusters.west.client.security.protocol": "SSL",
    "clusters.west.schema.registry.url": "http://west:8081",
    "clusters.west.schema.registry.basic.auth.user.info": "eve:secret",
    "clusters.west.connect.url": "http://west:8083/",
    "clusters.west.read.only": "true",
    "clusters.west.masked.fields": "payments:key",
    "clusters.lab.bootstrap.servers": "127.0.0.1:4",
    "clusters.lab.admin.users": "*",
}


@pytest.fixture
def silent() -> Iterator[str]:
    """Something that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def test_settings_by_cluster() -> None:
    home, west, lab = ConsoleConfig.from_settings(GIVEN).clusters
    assert [each.name for each in (home, west, lab)] == ["home", "west", "lab"]
    assert west.bootstrap_servers == "127.0.0.1:2,127.0.0.1:3"
    assert west.access.properties["security.protocol"] == "SSL"
    assert "security.protocol" not in home.access.properties
    assert west.registry_access is not None
    assert west.registry_access.username == "eve"
    assert west.service_urls == {"connect": "http://west:8083", "registry": "http://west:8081"}
    assert lab.service_urls == home.service_urls == {}
    assert [each.is_read_only for each in (home, west, lab)] == [False, True, False]
    roles = [each.roles.of("User:bob") for each in (home, west, lab)]
    assert roles == [Role.VIEWER, Role.VIEWER, Role.ADMIN]
    only = ConsoleConfig.from_settings({**GIVEN, "read.only": "true"}).clusters
    assert all(each.is_read_only for each in only)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("clusters.west.bootstrap.server", "a:1", "did you mean bootstrap.servers"),
        ("clusters.west.monitor.url", "a:1", "clusters.west.monitor.url: it is not of the form"),
        ("clusters.we st.read.only", "true", "letters, digits"),
        ("clusters.home.bootstrap.servers", "a:1", "the first cluster is called home already"),
        ("clusters.far.read.only", "true", '"clusters.far.bootstrap.servers"'),
        ("clusters.west.audit.file", "x", "there is no cluster setting of that name"),
    ],
)
def test_settings_that_make_no_sense(name: str, text: str, said: str) -> None:
    with pytest.raises(ConfigError) as failure:
        ConsoleConfig.from_settings({**GIVEN, name: text})
    assert said in str(failure.value)
    assert failure.value.name.startswith("clusters.")


def test_refusals_and_the_trail_name_the_cluster() -> None:
    consoles = Consoles(ConsoleConfig.from_settings(GIVEN))
    home, west, lab = consoles
    assert (consoles.named("west"), consoles.named("home"), consoles.first) == (west, None, home)
    places = [consoles.place(each) for each in consoles]
    assert places == ["", "/clusters/west", "/clusters/lab"]

    def attempt(console: Console, who: str) -> None:
        asyncio.run(console.change(who, Action.ADD_ACL, "orders", lambda: None))

    with pytest.raises(ConsoleError, match=r"^home: To add acl takes the role admin, and User:bob"):
        attempt(home, "User:bob")
    with pytest.raises(ConsoleError, match=r"^west: This console only shows"):
        attempt(west, "User:ann")
    attempt(lab, "User:bob")
    seen = [(event.cluster, event.allowed) for event in consoles.audit.page(Wanted()).items]
    assert seen == [("lab", True), ("west", False), ("home", False)]
    assert [each.cluster for each in consoles.audit.page(Wanted(), "lab").items] == ["lab"]
    consoles.stop()


def test_a_silent_cluster_keeps_nobody_waiting(silent: str) -> None:
    settings = {"bootstrap.servers": "127.0.0.1:1", "clusters.dumb.bootstrap.servers": silent}
    consoles = Consoles(ConsoleConfig.from_settings(settings))

    async def look() -> None:
        gone, dumb = await consoles.glances()
        assert gone.problem.startswith("default: ")
        assert dumb.problem == "It has not answered within 2 s."
        _, console = consoles
        # More than it has threads: each is told, by the one look that is on its way.
        asked = [console.ask(console.cluster.look) for _ in range(30)]
        told = await asyncio.gather(*asked, return_exceptions=True)
        assert {type(each) for each in told} == {ConsoleError}
        assert all("has not answered for" in str(each) for each in told)

    asyncio.run(look())
    consoles.stop()


def test_an_answer_is_shared() -> None:
    goes_on, asked = threading.Event(), []

    def question() -> int:
        asked.append(1)
        goes_on.wait()
        return len(asked)

    shared = SharedAnswer(question, "it")
    first, _ = shared.begin()
    assert shared.begin()[0] is first
    with pytest.raises(ClientError, match="it has not answered for"):
        shared.get(0.0)
    later: list[int] = []
    another = threading.Thread(target=lambda: later.append(shared.anew(60.0)))
    another.start()
    goes_on.set()
    another.join()
    assert (first.result(), later) == (1, [2])
    assert shared.last is not None
    assert shared.last[0] == 2


def test_a_question_that_fails_is_asked_again() -> None:
    answers = iter([ClientError("gone"), ClientError("gone")])

    def question() -> int:
        failure = next(answers, None)
        if failure is not None:
            raise failure
        return 7

    shared = SharedAnswer(question, "it")
    for _ in range(2):
        with pytest.raises(ClientError, match="gone"):
            shared.get(60.0)
    assert shared.get(60.0) == 7


def test_the_clusters_of_the_documentation() -> None:
    (block,) = blocks(ROOT / "docs/console.md", "toml")
    given = {name.removeprefix("console."): text for name, text in parse_toml(block).items()}
    home, west = ConsoleConfig.from_settings(given).clusters
    assert (home.name, west.name, west.is_read_only) == ("home", "west", True)
