"""Tokens, the keys that sign them, and the messages that carry them."""

from __future__ import annotations

import base64
import json
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from tests.tokens import Provider
from tests.waiting import wait_for

from headwater.broker.config import BrokerConfig
from headwater.broker.sasl.listener_sasl import ListenerSasl
from headwater.broker.sasl.mechanism import LoginRefused
from headwater.broker.sasl.oauthbearer import OauthBearerExchange
from headwater.config import ConfigError
from headwater.security import jwks
from headwater.security.jwks import JwksError, KeySource, read_keys
from headwater.security.jwt import Expectations, TokenRefused, check_token

if TYPE_CHECKING:
    from pathlib import Path

PROVIDER, STRANGER = Provider(), Provider()
NESTED = base64.b64encode(b"[" * 3000).decode()  # deeper than Python goes
EXPECTED = Expectations("https://id", ("kafka", "other"))


@pytest.fixture
def keys(tmp_path: Path) -> KeySource:
    return KeySource(PROVIDER.publish(tmp_path / "jwks.json"), 3600)


def token(algorithm: str = "RS256", **claims: Any) -> str:
    return PROVIDER.token(algorithm, **{"iss": "https://id", "aud": "kafka", **claims})


@pytest.mark.parametrize("algorithm", ["RS256", "PS256", "ES256"])
def test_a_signed_token_names_its_subject(keys: KeySource, algorithm: str) -> None:
    now = time.time()
    for text in (token(algorithm), token(algorithm, aud=["x", "kafka"], scope=["a"])):
        found = check_token(text, keys, EXPECTED, now)
        assert found.subject == "ann"
        assert 3590 < found.expires_at - now < 3610
    late = token(algorithm, iat=now - 60, exp=now - 20)
    assert check_token(late, keys, EXPECTED, now).subject == "ann"
    assert check_token(PROVIDER.token(algorithm), keys, Expectations(), now).subject == "ann"
    by_name = Expectations(subject_claim="name")
    assert check_token(PROVIDER.token(name="bob"), keys, by_name, now).subject == "bob"


def test_a_token_that_proves_nothing_is_refused(keys: KeySource) -> None:
    for text, reason in (
        (token(exp=time.time() - 40), "expired"),
        (token(nbf=time.time() + 400), "not good yet"),
        (token(iat=time.time() + 400), "not good yet"),
        (token(exp=None), "exp is no time"),
        (token(exp=float("inf")), "exp is no time"),
        (token(exp="later"), "exp is no time"),
        (token(iss="https://elsewhere"), "another issuer"),
        (token(aud="somebody"), "somebody else"),
        (token(aud=None), "who is to take it"),
        (token(aud=["kafka", 5]), "who is to take it"),
        (token(aud=[]), "somebody else"),
        (token(iat=None), "iat is no time"),
        (token(iat=-5), "iat is no time"),
        (token(iat=time.time() + 20, exp=time.time() + 10), "ends before it begins"),
        (token(nbf=time.time() + 20, exp=time.time() + 10), "ends before it begins"),
        (token(sub=None), "who it is for"),
        (token(sub=" "), "who it is for"),
        (token(scope=5), "neither text nor a list"),
        (token("none"), "'none' is not taken"),
        (PROVIDER.unsecured(), "'none' is not taken"),
        (token("HS256"), "'HS256' is not taken"),
        (STRANGER.token(iss="https://id", aud="kafka"), "none of the known keys"),
        (token("ES256") + "AAAA", "none of the known keys"),
        (token()[:-8], "none of the known keys"),
        ("a.b", "no signed token"),
        ("a.b.c", "no signed token"),
        ("W10.W10.AA", "no signed token"),
        (f"{NESTED}.{NESTED}.AAAA", "no signed token"),
        (token().rpartition(".")[0] + ".", "none of the known keys"),
    ):
        with pytest.raises(TokenRefused, match=reason):
            check_token(text, keys, EXPECTED, time.time())


@pytest.mark.parametrize("audience", ["somebody", "", [], ["somebody", "others"]])
def test_a_token_for_somebody_is_not_for_who_expects_none(keys: KeySource, audience: Any) -> None:
    with pytest.raises(TokenRefused, match="somebody else"):
        check_token(PROVIDER.token(aud=audience), keys, Expectations(), time.time())


def first(text: str, header: str = "n,,") -> bytes:
    return f"{header}\x01auth=Bearer {text}\x01\x01".encode()


def test_the_message_of_a_client(keys: KeySource) -> None:
    step = OauthBearerExchange(keys, EXPECTED).take(first(token(), "n,a=ann,"))
    assert (step.answer, step.user) == (b"", "ann")
    exchange = OauthBearerExchange(keys, EXPECTED)
    answer = exchange.take(first(token(exp=time.time() - 100)))
    assert (json.loads(answer.answer), answer.user) == ({"status": "invalid_token"}, None)
    with pytest.raises(LoginRefused, match="expired"):
        exchange.take(b"\x01")
    for wrong in (b"", b"n,,", first(""), first(token(), "y,,"), first(token(), "n,a=bob,"),
                  b"n,,\x01auth=Basic x\x01\x01", b"\xff\xfe"):  # fmt: skip
        with pytest.raises(LoginRefused):
            OauthBearerExchange(keys, EXPECTED).take(wrong)


def test_new_keys_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "jwks.json"
    keys = KeySource(PROVIDER.publish(path), 3600)
    newer = Provider("two")
    newer.publish(path)
    assert not keys.keys_for("two")
    monkeypatch.setattr(jwks, "_SOONEST_AGAIN_S", 0)
    assert len(wait_for(lambda: keys.keys_for("two"))) == 2
    path.write_text("{}")
    for _ in range(3):
        assert keys.keys_for("two")
        keys._read_again()


def test_keys_come_from_a_server_as_well(tmp_path: Path) -> None:
    PROVIDER.publish(tmp_path / "jwks.json")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(tmp_path))) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        address = f"http://127.0.0.1:{server.server_port}"
        try:
            assert [key.id for key in read_keys(f"{address}/jwks.json")] == ["one", "one"]
            with pytest.raises(JwksError, match="404"):
                read_keys(f"{address}/gone.json")
        finally:
            server.shutdown()
            serving.join()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_what_is_wrong_with_keys_is_said(tmp_path: Path) -> None:
    path = tmp_path / "jwks.json"
    for text, reason in (("{}", "no set of keys"), ('{"keys": []}', "no key of a kind"),
                         ('{"keys": [{"kty": "RSA"}]}', "no set of keys")):  # fmt: skip
        path.write_text(text)
        with pytest.raises(JwksError, match=reason):
            read_keys(path.as_uri())
    for address, reason in (("jwks.json", "no address"), ("file:///nowhere", "cannot be read")):
        with pytest.raises(JwksError, match=reason):
            read_keys(address)


def test_the_settings_of_a_listener(tmp_path: Path) -> None:
    given = {"listeners": "SASL_SSL://:0", "sasl.enabled.mechanisms": "OAUTHBEARER"}
    # Kafka takes them where nothing is set, or where its own handler for them is.
    unsecured = "org.apache.kafka.common.security.oauthbearer.internals.unsecured"
    handler = f"{unsecured}.OAuthBearerUnsecuredValidatorCallbackHandler"
    prefix = "listener.name.sasl_ssl.oauthbearer."
    for more in ({}, {f"{prefix}sasl.server.callback.handler.class": handler}):
        with pytest.raises(ConfigError, match="unsecured tokens are not taken"):
            ListenerSasl("SASL_SSL", BrokerConfig({**given, **more}), dict)
    setting = "sasl.oauthbearer.jwks.endpoint.url"
    with pytest.raises(ConfigError, match="cannot be read"):
        ListenerSasl("SASL_SSL", BrokerConfig({**given, setting: "file:///nowhere"}), dict)
    address = PROVIDER.publish(tmp_path / "jwks.json")
    sasl = ListenerSasl("SASL_SSL", BrokerConfig({**given, setting: address}), dict)
    assert sasl.begin("OAUTHBEARER").take(first(token(aud=None))).user == "ann"
