"""Users by the tokens of an identity provider, beside those with passwords."""

from __future__ import annotations

import base64
import json
import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.docs_page import ROOT, blocks
from tests.tokens import Provider
from tests.unit.http.running_app import RunningApp, app_of
from tests.waiting import wait_for

from headwater.config import ConfigError, Definitions, Values
from headwater.http import bearer_auth
from headwater.http.answers import Answer, answer
from headwater.http.errors import StartError
from headwater.http.listener_settings import ListenerConfig, listener_definitions
from headwater.http.routes import Route

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from headwater.http.request import Request

PROVIDER = Provider()
NESTED = base64.b64encode(b"[" * 3000).decode()  # deeper than Python goes


async def who(service: Any, request: Request) -> Answer:
    return answer([str(request.principal), request.principal.method])


def configured(**given: str) -> ListenerConfig:
    config = ListenerConfig()
    values = Values(Definitions("test", *listener_definitions(0)), given)
    for name in given:
        assert config.take(name, values), name
    return config


class Service:
    """What is behind the authentication of some settings, over a real socket."""

    def __init__(self, running: RunningApp) -> None:
        self._running = running

    def ask(self, authorization: str) -> tuple[int, Any, str]:
        headers = {"Authorization": authorization} if authorization else {}
        status, body, answered = self._running.ask("GET", "/who", headers=headers)
        return status, json.loads(body), answered.get("www-authenticate", "")

    def user(self, authorization: str) -> list[str] | int:
        status, body, _ = self.ask(authorization)
        return list(body) if status == 200 else status


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("tokens")
    (folder / "users.txt").write_text("bob: bob's\n")
    config = configured(
        **{
            "authentication.users.file": str(folder / "users.txt"),
            "oauthbearer.jwks.endpoint.url": PROVIDER.publish(folder / "keys.json"),
            "oauthbearer.expected.issuer": "https://idp.example",
            "oauthbearer.expected.audience": "plant,headwater",
            "oauthbearer.sub.claim.name": "email",
        }
    )
    app = app_of(Route("GET", "/who", who, "", ""), authenticator=config.authenticator("test"))
    with RunningApp(app) as running:
        yield Service(running)


def token(algorithm: str = "RS256", **claims: Any) -> str:
    given = {"iss": "https://idp.example", "aud": "headwater", "email": "ann@plant", **claims}
    return f"Bearer {PROVIDER.token(algorithm, **given)}"


@pytest.mark.parametrize("algorithm", ["RS256", "PS256", "ES256"])
def test_a_token_names_its_bearer(service: Service, algorithm: str) -> None:
    shown = token(algorithm)
    for _ in range(2):  # by its signature, and by heart
        assert service.user(shown) == ["User:ann@plant", "BEARER"]


def test_others_come_in_with_their_passwords(service: Service) -> None:
    basic = base64.b64encode(b"bob:bob's").decode()
    assert service.user(f"Basic {basic}") == ["User:bob", "BASIC"]


def test_strangers_stay_outside(service: Service) -> None:
    stranger = Provider("stranger").token(iss="https://idp.example", aud="plant", email="ann")
    for shown in (
        "",
        "Bearer",
        "Bearer x",
        "Bearer a.b.c",
        f"Bearer {NESTED}.{NESTED}.AAAA",
        f"Bearer {stranger}",
        token() + "x",
        token(exp=time.time() - 100),
        token(iat=time.time() + 100),
        token(iss="https://elsewhere.example"),
        token(aud="others"),
        token(email=None),
        "Basic " + base64.b64encode(b"bob:guessed").decode(),
    ):
        status, body, challenge = service.ask(shown)
        assert (status, challenge) == (401, 'Basic realm="test", Bearer realm="test"'), shown
        assert "give a user and a password or a token" in body["message"]


def test_a_token_that_was_taken_expires(service: Service) -> None:
    # Clocks may differ by half a minute, which is how long it is good beyond its end.
    life_s = -27
    while service.user(shown := token(exp=time.time() + life_s)) == 401:
        life_s += 10  # a busy machine
    wait_for(lambda: service.user(shown) == 401)


def test_so_many_are_remembered(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bearer_auth, "MOST_REMEMBERED", 2)
    shown = [token(jti=str(number)) for number in range(4)]
    for each in (*shown, *shown):
        assert service.user(each) == ["User:ann@plant", "BEARER"]


def test_keys_that_cannot_be_had_are_said_at_start(tmp_path: Path) -> None:
    address = (tmp_path / "gone.json").as_uri()
    config = configured(**{"oauthbearer.jwks.endpoint.url": address})
    assert config.has_users
    with pytest.raises(
        StartError, match=r"oauthbearer\.jwks\.endpoint\.url: file:.* cannot be read"
    ):
        config.authenticator("test")


@pytest.mark.parametrize("name", ["oauthbearer.expected.issuer", "oauthbearer.expected.audience"])
def test_what_tokens_must_say_is_nothing_without_keys(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"{name}.*set oauthbearer\.jwks\.endpoint\.url"):
        configured(**{name: "plant"}).check()
    passing_on = configured(**{name: "plant"})
    passing_on.passes_credentials_on = True
    with pytest.raises(ConfigError, match=rf"{name}.*the cluster checks tokens"):
        passing_on.check()


def test_the_settings_of_the_page_are_taken() -> None:
    (block,) = [
        each for each in blocks(ROOT / "docs/security.md", "properties") if "idp.plant" in each
    ]
    config = configured(**dict(line.split("=", 1) for line in block.splitlines()))
    config.check()
    assert (config.token_issuer, config.token_audience) == (
        "https://idp.plant.example",
        ("headwater",),
    )
