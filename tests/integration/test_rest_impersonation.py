"""The REST proxy as its callers: their passwords, their rights, their consumers."""

from __future__ import annotations

import asyncio
import base64
import json
import socket
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from tests.cli_command import Cli
from tests.docs_page import ROOT, blocks
from tests.rest_process import RestProcess
from tests.secured_broker import SecuredBroker
from tests.tokens import Provider
from tests.waiting import HUNG_AFTER_S, wait_for

from headwater.config import ConfigError
from headwater.http.authentication import Credentials
from headwater.http.errors import HttpError
from headwater.rest import callers
from headwater.rest.config import RestConfig
from headwater.rest.identities import Identities

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.http_process import Response

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
PROVIDER = Provider()


class World(NamedTuple):
    broker: SecuredBroker
    proxy: RestProcess

    def by(self, user: str, password: str | None = None) -> RestProcess:
        self.proxy.user = (user, password or f"{user}'s")
        return self.proxy

    def ask(self, token: str, method: str, path: str, body: object = None) -> Response:
        headers = {"Authorization": f"Bearer {token}", "Accept": "*/*"}
        if body is not None:
            headers["Content-Type"] = "application/vnd.kafka.json.v2+json"
        return self.proxy.request(method, path, body, headers)

    def write(self, token: str, value: object) -> Response:
        return self.ask(token, "POST", "/topics/orders", {"records": [{"value": value}]})


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    authorizer = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
    folder = tmp_path_factory.mktemp("impersonation")
    broker = SecuredBroker(
        folder / "data",
        {SASL: SASL},
        {
            "sasl.enabled.mechanisms": f"{MECHANISM},OAUTHBEARER",
            "sasl.oauthbearer.jwks.endpoint.url": PROVIDER.publish(folder / "jwks.json"),
            "authorizer.class.name": authorizer,
            "super.users": "User:ANONYMOUS;User:proxy",
        },
    ).start()
    cli = Cli(broker.bootstrap_servers)
    for user in ("ann", "bob", "proxy"):
        cli.ok("users", "create", user, "--password-file", "-", stdin=f"{user}'s")
    cli.ok("topics", "create", "orders")
    cli.ok("topics", "create", "streamed")
    give = ("acls", "add", "--topic", "orders", "--allow-principal")
    cli.ok(*give, "User:ann", "--producer")
    cli.ok(*give, "User:bob", "--consumer", "--group", "bobs")
    cli.ok("acls", "add", "--topic", "streamed", "--allow-principal", "User:ann", "--producer")
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
    assert [each["value"] for each in read] == [1], read
    # An instance is its maker's: others do not find it.
    assert world.by("ann").request("GET", f"{path}/records").status == 404
    assert world.by("bob").request("DELETE", path).status == 204


def test_no_caller_changes_what_the_proxy_logs(world: World) -> None:
    path = "/admin/loggers/headwater.rest"
    refused = world.by("ann").request("PUT", path, {"level": "DEBUG"})
    assert (refused.status, refused.body["error_code"]) == (403, 40301)


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
        "Bearer a.b.c",
        "Bearer " + Provider("stranger").token(),
        "Bearer " + PROVIDER.token(exp=100),
        "Bearer " + PROVIDER.token() + ",auth=Bearer x",
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
        ("client.sasl.mechanism", "GSSAPI"),
        ("authentication.users.file", "users.txt"),
    ):
        with pytest.raises(ConfigError, match=r"confluent\.rest\.auth\.propagate\.method"):
            RestConfig.from_settings({**given, name: value}).check()


def test_who_shows_a_token_has_the_rights_of_its_subject(world: World) -> None:
    ann, bob = PROVIDER.token(), PROVIDER.token(sub="bob")
    written = world.write(ann, "by token")
    assert written.status == 200, written
    assert "offset" in written.body["offsets"][0]
    refused = world.write(bob, "by bob")
    assert "authorization failed" in str(refused.body), refused
    # Requests that no library has go over sockets of their own.
    listed = world.ask(ann, "GET", "/v3/clusters")
    assert listed.status == 200, listed
    cluster = listed.body["data"][0]["cluster_id"]
    told = world.ask(ann, "GET", f"/v3/clusters/{cluster}/broker-configs")
    assert "CLUSTER_AUTHORIZATION_FAILED" in told.body["message"]
    assert ann not in world.broker.text
    assert ann not in world.proxy.text


def test_the_next_token_goes_on_where_the_last_one_was(world: World) -> None:
    first, other = PROVIDER.token(sub="bob", jti="1"), PROVIDER.token(sub="ann", jti="1")
    path = "/consumers/bobs"
    made = world.ask(first, "POST", path, {"format": "json", "auto.offset.reset": "earliest"})
    assert made.status == 200, made
    path = f"{path}/instances/{made.body['instance_id']}"
    assert world.ask(first, "POST", f"{path}/subscription", {"topics": ["orders"]}).status == 204
    second = PROVIDER.token(sub="bob", jti="2", exp=time.time() + 7200)
    assert world.ask(other, "GET", f"{path}/records").status == 404
    assert wait_for(lambda: world.ask(second, "GET", f"{path}/records?timeout=500").body)
    # Who says something else in its token is somebody else, although of the same name.
    assert world.ask(PROVIDER.token(sub="bob", azp="x"), "GET", f"{path}/records").status == 404
    assert world.ask(second, "DELETE", path).status == 204


def lasting(use: Callable[[str], bool]) -> None:
    """Use a token that expires soon, and not before its first use, however slow that is."""
    for life_s in (4, 12, 36, 108):
        # Of a client that has no other token.
        if use(PROVIDER.token(exp=time.time() + life_s, azp=str(life_s))):
            return
    raise AssertionError("it takes more than 108 s to come in")


def test_a_token_that_expires_ends_all_that_came_with_it(world: World) -> None:
    streams: list[tuple[socket.socket, str]] = []

    def use(token: str) -> bool:
        if world.write(token, "in time").status != 200:
            return False
        streams.append((stream_of(world, token), token))
        return True

    lasting(use)
    ((peer, token),) = streams
    with peer, peer.makefile("rb") as answers:
        for end in (b"\r\n", b"0\r\n"):  # of the head, and of the stream
            assert end in iter(answers.readline, b"")
    refused = world.write(token, "too late")
    assert refused.status == 401, refused
    assert "Bearer realm=" in refused.headers["www-authenticate"]
    assert "a token that has not expired" in refused.body["message"]
    # Others stay, also of the same name.
    assert world.write(PROVIDER.token(), "another").status == 200


def stream_of(world: World, token: str) -> socket.socket:
    """Begin to write records by version 3, and go on for ever."""
    cluster = world.ask(token, "GET", "/v3/clusters").body["data"][0]["cluster_id"]
    peer = socket.create_connection(("127.0.0.1", world.proxy.port), HUNG_AFTER_S)
    record = json.dumps({"value": {"type": "STRING", "data": "streamed"}}).encode()
    peer.sendall(
        f"POST /v3/clusters/{cluster}/topics/streamed/records HTTP/1.1\r\nHost: proxy\r\n"
        f"Authorization: Bearer {token}\r\nContent-Type: application/json\r\n"
        "Transfer-Encoding: chunked\r\n\r\n".encode()
        + f"{len(record):x}\r\n".encode() + record + b"\r\n"
    )  # fmt: skip
    return peer


def test_there_are_so_many_callers_and_tokens_at_a_time(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(callers, "MOST_CALLERS", 2)
    monkeypatch.setattr(callers, "MOST_TOKENS", 2)
    config = RestConfig.from_settings(
        {**PROPERTIES, "bootstrap.servers": world.broker.address(SASL)}
    )

    def shown(**claims: Any) -> Credentials:
        return Credentials(f"Bearer {PROVIDER.token(**claims)}".encode())

    async def ask() -> None:
        known = Identities(config)
        tokens = [shown(jti=str(number)) for number in range(3)]
        for each in tokens:
            assert str(await known.authenticate(each)) == "User:ann"
        # The oldest one has to prove itself again.
        assert [known.known(each) is not None for each in tokens] == [False, True, True]
        basic = base64.b64encode(b"bob:bob's").decode()
        assert str(await known.authenticate(Credentials(f"Basic {basic}".encode())))
        with pytest.raises(HttpError, match="too many users") as refusal:
            await known.authenticate(shown(sub="carl"))
        assert refusal.value.status == 429
        await known.stop()

    asyncio.run(ask())


def test_a_proxy_for_tokens_alone(world: World) -> None:
    config = RestConfig.from_settings(
        {
            "client.security.protocol": SASL,
            "client.sasl.mechanism": "OAUTHBEARER",
            "confluent.rest.auth.propagate.method": "SASL",
            "bootstrap.servers": world.broker.address(SASL),
        }
    )
    config.check()

    async def ask() -> None:
        known = Identities(config)
        assert known.challenge == 'Bearer realm="headwater"'
        basic = base64.b64encode(b"ann:ann's").decode()
        assert await known.authenticate(Credentials(f"Basic {basic}".encode())) is None
        token = Credentials(f"Bearer {PROVIDER.token()}".encode())
        assert str(await known.authenticate(token)) == "User:ann"
        await known.stop()

    asyncio.run(ask())
