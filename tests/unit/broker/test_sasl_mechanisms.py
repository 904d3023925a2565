"""PLAIN and SCRAM as the broker sees them."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.scram_client import ScramClient, salted

from headwater.broker.config import BrokerConfig
from headwater.broker.delegation_tokens.delegation_tokens import DelegationTokens
from headwater.broker.sasl.jaas import users_of
from headwater.broker.sasl.listener_sasl import ListenerSasl
from headwater.broker.sasl.mechanism import LoginRefused, Step
from headwater.broker.sasl.plain import PlainExchange
from headwater.broker.sasl.scram import ScramExchange
from headwater.broker.sasl.scram_credentials import (
    NOBODY,
    ScramCredential,
    ScramCredentials,
    ScramMechanism,
    credential_of,
    imitation,
    new_patterns,
)
from headwater.broker.session import USER, Principal
from headwater.config import ConfigError

SHA_256, SHA_512 = ScramMechanism


def users(mechanism: ScramMechanism, passwords: dict[str, str]) -> ScramCredentials:
    known: ScramCredentials = {}
    for user, password in passwords.items():
        salt = random.Random(user).randbytes(24)
        hashed = salted(mechanism, password, salt, 4096)
        known[user, mechanism] = credential_of(mechanism, salt, 4096, hashed)
    return {**known, (NOBODY, mechanism): new_patterns(known)[mechanism]}


@pytest.mark.parametrize("mechanism", ScramMechanism)
def test_scram_lets_in_who_knows_the_password(mechanism: ScramMechanism) -> None:
    known = users(mechanism, {"ann": "secret", "a=b,c": "p,=q"})
    for user, password in (("ann", "secret"), ("a=b,c", "p,=q")):
        client = ScramClient(mechanism, user, password)
        exchange = ScramExchange(mechanism, known)
        answer = exchange.take(client.first)
        assert answer.user is None
        assert exchange.take(client.final(answer.answer)) == Step(client.expected, user)


def test_unknown_users_are_not_told_from_wrong_passwords() -> None:
    known = users(SHA_512, {"ann": "secret", "bob": "other"})
    said, refused = [], set()
    for user in ("ann", "bob", "nobody", "nobody", "somebody"):
        client = ScramClient(SHA_512, user, "guessed")
        exchange = ScramExchange(SHA_512, known)
        answer = exchange.take(client.first).answer
        fields = dict(part.split("=", 1) for part in answer.decode().split(","))
        said.append((fields["s"], fields["i"]))
        with pytest.raises(LoginRefused) as refusal:
            exchange.take(client.final(answer))
        refused.add(str(refusal.value))
    assert len(refused) == 1
    assert len({(len(salt), iterations) for salt, iterations in said}) == 1
    # The salt of somebody who does not exist stays the same, as that of others does.
    assert said[2] == said[3] != said[4]


def test_the_imitation_of_a_user_cannot_be_logged_in_as() -> None:
    known = users(SHA_256, {"ann": "secret"})
    nobody = imitation(known[NOBODY, SHA_256], "nobody", SHA_256)
    assert nobody == imitation(known[NOBODY, SHA_256], "nobody", SHA_256)
    exchange = ScramExchange(SHA_256, known)
    exchange._credentials = {}
    client = ScramClient(SHA_256, "nobody", "")
    answer = exchange.take(client.first)
    # Even who could guess the key that nothing has.
    exchange._credential = ScramCredential(
        exchange._credential.salt, 4096, *credential_of(
            SHA_256, exchange._credential.salt, 4096,
            salted(SHA_256, "", exchange._credential.salt, 4096),
        )[2:],
    )  # fmt: skip
    with pytest.raises(LoginRefused):
        exchange.take(client.final(answer.answer))


def test_a_password_that_is_deleted_during_a_login_is_of_no_use() -> None:
    known = users(SHA_256, {"ann": "secret"})
    client = ScramClient(SHA_256, "ann", "secret")
    exchange = ScramExchange(SHA_256, known)
    final = client.final(exchange.take(client.first).answer)
    del known["ann", SHA_256]
    with pytest.raises(LoginRefused):
        exchange.take(final)


def test_tokens_that_do_not_exist_have_the_salts_that_they_would_have() -> None:
    config = BrokerConfig({"listeners": "PLAINTEXT://:0", "delegation.token.secret.key": "k"})
    ann = Principal(USER, "ann")
    token = DelegationTokens(config, dict).new(ann, ann, (), 0, 0)
    there = DelegationTokens(config, lambda: {token.id: token}).login(token.id, SHA_512, 0)
    assert there is not None
    nowhere = DelegationTokens(config, dict)
    assert nowhere.login(token.id, SHA_512, 0) is None
    assert nowhere.imitation(token.id, SHA_512)[:2] == there.credential[:2]
    assert nowhere.imitation(token.id, SHA_256)[:2] != there.credential[:2]


@pytest.mark.parametrize(
    "first",
    [b"", b"n,,n=,r=x", b"n,,n=a=b,r=x", b"p=tls-unique,,n=ann,r=x", b"n,a=bob,n=ann,r=x",
     b"\xff\xfe", b"n,,n=ann,r=", b"n,,m=x,n=ann,r=y"],
)  # fmt: skip
def test_what_scram_does_not_take_first(first: bytes) -> None:
    with pytest.raises(LoginRefused):
        ScramExchange(SHA_256, users(SHA_256, {"ann": "secret"})).take(first)


@pytest.mark.parametrize(
    "change",
    [
        lambda final: final.replace(b"c=biws", b"c=eSws"),
        lambda final: final.replace(b"r=nonce", b"r=nonces"),
        lambda final: final[:-8],
        lambda final: final.rpartition(b",p=")[0] + b",p=AAAA",
        lambda final: final.rpartition(b",p=")[0] + b",p====",
        lambda final: b"",
    ],
)
def test_what_scram_does_not_take_last(change: object) -> None:
    assert callable(change)
    client = ScramClient(SHA_256, "ann", "secret")
    exchange = ScramExchange(SHA_256, users(SHA_256, {"ann": "secret"}))
    final = client.final(exchange.take(client.first).answer)
    with pytest.raises(LoginRefused):
        exchange.take(change(final))


@given(st.lists(st.binary(max_size=60) | st.text(max_size=60).map(str.encode), max_size=3))
def test_garbage_is_refused_and_nothing_else(garbage: list[bytes]) -> None:
    known = users(SHA_256, {"ann": "secret"})
    for exchange in (ScramExchange(SHA_256, known), PlainExchange({"ann": "secret"})):
        for message in garbage:
            try:
                assert exchange.take(message).user is None
            except LoginRefused:
                break


def test_plain_compares_names_and_passwords() -> None:
    exchange = PlainExchange({"ann": "secret", "bjørn": "håp"})
    assert exchange.take(b"\0ann\0secret") == Step(b"", "ann")
    assert exchange.take("bjørn\0bjørn\0håp".encode()) == Step(b"", "bjørn")
    refusals = set()
    for message in (b"\0ann\0wrong", b"\0nobody\0secret"):
        with pytest.raises(LoginRefused) as refusal:
            exchange.take(message)
        refusals.add(str(refusal.value))
    assert refusals == {"Authentication failed: Invalid username or password"}
    for message in (
        b"",
        b"ann\0secret",
        b"\0\0secret",
        b"\0ann\0",
        b"bob\0ann\0secret",
        b"\0a\0b\0c",
    ):
        with pytest.raises(LoginRefused):
            exchange.take(message)


def test_users_come_from_javas_login_module() -> None:
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    text = f"""{module} required username="admin" password="x"
        user_admin="x" user_ann="a \\"b\\" c;" user_bob=plain user_c.d-e='q';"""
    expected = {"admin": "x", "ann": 'a "b" c;', "bob": "plain", "c.d-e": "q"}
    assert users_of("s", text, "PlainLoginModule") == expected
    for wrong in ("", "PlainLoginModule", f"{module} required user_a=b", f"{module} maybe a=b;",
                  f"{module} required user_a;", "other.Module required user_a=b;"):  # fmt: skip
        with pytest.raises(ConfigError) as error:
            users_of("s", wrong, "PlainLoginModule")
        assert "user_a=b" not in str(error.value)


def listener_sasl(**settings: str) -> ListenerSasl:
    config = BrokerConfig({"listeners": "SASL_SSL://:0", **settings})
    return ListenerSasl("SASL_SSL", config, dict)


def test_the_settings_of_a_listener_with_sasl() -> None:
    jaas = "listener.name.sasl_ssl.plain.sasl.jaas.config"
    sasl = listener_sasl(
        **{
            "listener.name.sasl_ssl.sasl.enabled.mechanisms": "SCRAM-SHA-512,PLAIN",
            jaas: 'PlainLoginModule required user_ann="x";',
            "connections.max.reauth.ms": "5000",
            "listener.name.sasl_ssl.plain.connections.max.reauth.ms": "7000",
        }
    )
    assert sasl.mechanisms == ["SCRAM-SHA-512", "PLAIN"]
    assert [sasl.max_session_ms(name) for name in sasl.mechanisms] == [5000, 7000]
    for settings, reason in (
        ({}, "GSSAPI, which sasl.enabled.mechanisms has unless it is set, needs"),
        ({"sasl.enabled.mechanisms": "X"}, "X is not served; listener SASL_SSL may have PLAIN"),
        ({"sasl.enabled.mechanisms": ""}, "needs a mechanism"),
        ({"sasl.enabled.mechanisms": "PLAIN"}, "PLAIN needs users"),
        ({"sasl.enabled.mechanisms": "PLAIN", jaas: "PlainLoginModule required;"}, "no users"),
    ):
        with pytest.raises(ConfigError, match=reason):
            listener_sasl(**settings)
