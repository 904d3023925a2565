"""Who a client is, before and after it has said so."""

from __future__ import annotations

from headwater.broker.session import ANONYMOUS, Authentication, Principal, Session


def session() -> Session:
    return Session("INTERNAL", "SASL_SSL", "10.0.0.1", 4711)


def test_nobody_in_particular() -> None:
    unknown = session()
    assert unknown.principal is ANONYMOUS
    assert str(unknown.principal) == "User:ANONYMOUS"
    assert (unknown.client_software_name, unknown.client_software_version) == (
        "unknown",
        "unknown",
    )
    assert str(unknown) == "10.0.0.1:4711"


def test_a_client_that_introduces_and_authenticates_itself() -> None:
    before = session()
    before.introduce("librdkafka", "2.6.0")
    assert str(before) == "10.0.0.1:4711 (librdkafka 2.6.0)"
    alice = Principal("User", "alice")
    after = before.authenticated(Authentication(alice, "SCRAM-SHA-256", expires_at=5.0))
    assert str(after) == "10.0.0.1:4711 (User:alice, librdkafka 2.6.0)"
    assert (after.listener, after.security_protocol) == ("INTERNAL", "SASL_SSL")
    # What was under way goes on as who it was.
    assert before.principal is ANONYMOUS
