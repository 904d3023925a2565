"""The REST proxy as its callers: their passwords, their rights, their consumers."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from tests.cli_command import Cli
from tests.docs_page import ROOT, blocks
from tests.rest_process import RestProcess
from tests.secured_broker import SecuredBroker
from tests.waiting import wait_for

from headwater.config import ConfigError
from headwater.rest.config import RestConfig

if TYPE_CHECKING:
    from collections.abc import Iterator

SASL = "SASL_PLAINTEXT"
MECHANISM = "SCRAM-SHA-256"
PROPERTIES = {
    "client.security.protocol": SASL,
    "client.sasl.mechanism": MECHANISM,
    "client.sasl.username": "proxy",
    "client.sasl.password": "proxy's",
    "confluent.rest.auth.propagate.method": "SASL",
    "consumer.instance.timeout.ms": "60000",
}


class World(NamedTuple):
    broker: SecuredBroker
    proxy: RestProcess

    def by(self, user: str, password: str | None = None) -> RestProcess:
        self.proxy.user = (user, password or f"{user}'s")
        return self.proxy


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    authorizer = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
    broker = SecuredBroker(
        tmp_path_factory.mktemp("impersonation"),
        {SASL: SASL},
        {
            "sasl.enabled.mechanisms": MECHANISM,
            "authorizer.class.name": authorizer,
            "super.users": "User:ANONYMOUS;User:proxy",
        },
    ).start()
    cli = Cli(broker.bootstrap_servers)
    for user in ("ann", "bob", "proxy"):
        cli.ok("users", "create", user, "--password-file", "-", stdin=f"{user}'s")
    cli.ok("topics", "create", "orders")
    give = ("acls", "add", "--topic", "orders", "--allow-principal")
    cli.ok(*give, "User:ann", "--producer")
    cli.ok(*give, "User:bob", "--consumer", "--group", "bobs")
    options = [f"--property={name}={value}" for name, value in PROPERTIES.items()]
    proxy = RestProcess(broker.address(SASL), options).start()
    yield World(broker, proxy)
    proxy.stop()
    broker.stop()


def test_each_caller_has_its_own_rights(world: World) -> None:
    written = world.by("ann").produce("orders", "json", {"value": 1})
    assert written.status == 200, written
    assert "offset" in written.body["offsets"][0]
    refused = world.by("bob").produce("orders", "json", {"value": 2})
    assert "authorization failed" in str(refused.body), refused
    assert "'offset': " not in str(refused.body), refused
    path = world.by("bob").consumer("bobs", "orders", format="json")
    read = wait_for(lambda: records(world.by("bob"), path))
    assert [each["value"] for each in read] == [1]
    # An instance is its maker's: others do not find it.
    assert world.by("ann").request("GET", f"{path}/records").status == 404
    assert world.by("bob").request("DELETE", path).status == 204


def records(proxy: RestProcess, path: str) -> Any:
    accept = {"Accept": "application/vnd.kafka.json.v2+json"}
    answer = proxy.request("GET", f"{path}/records?timeout=500", headers=accept)
    assert answer.status == 200, answer
    return answer.body


@pytest.mark.parametrize(
    "authorization",
    [
        "",
        "Bearer x",
        "Basic ???",
        "Basic " + base64.b64encode(b"ann:guessed").decode(),
        "Basic " + base64.b64encode(b"nobody:x").decode(),
        "Basic " + base64.b64encode(b"ann:").decode(),
        # The proxy's own secrets are not to be had by naming them.
        "Basic " + base64.b64encode(b"proxy:${env:HOME}").decode(),
    ],
)
def test_strangers_stay_outside(world: World, authorization: str) -> None:
    world.by("ann").get("/topics")
    for path in ("/topics", "/metrics", "/openapi.json", "/admin/loggers"):
        answer = world.proxy.request("GET", path, headers={"Authorization": authorization})
        assert answer.status == 401, path
        assert answer.headers["www-authenticate"].startswith("Basic realm=")


def test_the_settings_of_the_page_are_taken_and_others_refused() -> None:
    (block,) = [each for each in blocks(ROOT / "docs/security.md", "properties") if "rest" in each]
    given = dict(line.split("=", 1) for line in block.splitlines())
    RestConfig.from_settings(given).check()
    for name, value in (
        ("client.security.protocol", "SSL"),
        ("client.sasl.mechanism", "OAUTHBEARER"),
        ("authentication.users.file", "users.txt"),
    ):
        with pytest.raises(ConfigError, match=r"confluent\.rest\.auth\.propagate\.method"):
            RestConfig.from_settings({**given, name: value}).check()
