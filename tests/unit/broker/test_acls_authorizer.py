from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import often

from headwater.broker.acls.acl import Acl, AclFilter, ResourcePattern
from headwater.broker.acls.standard_authorizer import StandardAuthorizer, authorizer_of
from headwater.broker.authorizer import CLUSTER, Resource, group, topic
from headwater.broker.config import BrokerConfig
from headwater.broker.config.settings.acls import STANDARD_AUTHORIZER
from headwater.broker.session import USER, Authentication, Principal, Session
from headwater.config import ConfigError
from headwater.protocol.acls import AclOperation, PatternType, PermissionType, ResourceType

if TYPE_CHECKING:
    from collections.abc import Iterable

ALLOW, DENY = PermissionType.ALLOW, PermissionType.DENY
LITERAL, PREFIXED = PatternType.LITERAL, PatternType.PREFIXED
READ, WRITE, DESCRIBE, ALL = (
    AclOperation.READ, AclOperation.WRITE, AclOperation.DESCRIBE, AclOperation.ALL,
)  # fmt: skip


def acl(
    name: str,
    operation: AclOperation = READ,
    permission: PermissionType = ALLOW,
    principal: str = "User:ann",
    host: str = "*",
    pattern_type: PatternType = LITERAL,
    resource_type: ResourceType = ResourceType.TOPIC,
) -> Acl:
    return Acl(
        ResourcePattern(resource_type, pattern_type, name), principal, host, operation, permission
    )


def authorizer(*acls: Acl, allows_if_no_acl: bool = False) -> StandardAuthorizer:
    made = StandardAuthorizer(["User:admin"], allows_if_no_acl=allows_if_no_acl)
    made.change(acls)
    return made


def session(name: str = "ann", host: str = "10.0.0.1") -> Session:
    proved = Authentication(Principal(USER, name), "PLAIN")
    return Session("SASL", "SASL_PLAINTEXT", host, 5).authenticated(proved)


def may(
    decides: StandardAuthorizer,
    operation: AclOperation = READ,
    resource: Resource = topic("orders"),  # noqa: B008 - a tuple
    by: Session | None = None,
) -> bool:
    return decides.authorize(by or session(), operation, resource)


def test_nobody_may_what_no_acl_allows_but_super_users() -> None:
    decides = authorizer()
    assert not may(decides)
    assert decides.allows_all(Principal(USER, "admin"))
    assert not decides.allows_all(Principal(USER, "ann"))
    assert may(authorizer(acl("orders")))
    assert not may(authorizer(acl("orders")), WRITE)
    assert not may(authorizer(acl("orders")), by=session("bob"))
    assert not may(authorizer(acl("orders")), resource=topic("orders2"))
    assert not may(authorizer(acl("orders")), resource=group("orders"))


def test_everybody_may_what_no_acl_is_about_if_that_is_set() -> None:
    decides = authorizer(
        acl("orders", principal="User:bob"), acl("a", pattern_type=PREFIXED), allows_if_no_acl=True
    )
    assert may(decides, resource=topic("other"))
    assert may(decides, resource=CLUSTER)
    assert not may(decides)
    assert not may(decides, WRITE, topic("abc"))


def test_a_denial_wins_wherever_it_stands() -> None:
    for denial in (
        acl("orders", permission=DENY),
        acl("*", permission=DENY),
        acl("ord", permission=DENY, pattern_type=PREFIXED),
        acl("orders", ALL, DENY),
        acl("orders", permission=DENY, principal="User:*"),
        acl("orders", permission=DENY, host="10.0.0.1"),
    ):
        for allowance in (acl("orders"), acl("*", ALL), acl("o", pattern_type=PREFIXED)):
            assert not may(authorizer(allowance, denial)), denial
            assert not may(authorizer(denial, allowance)), denial
    assert may(authorizer(acl("orders"), acl("orders", permission=DENY, host="10.0.0.2")))


def test_some_rights_imply_that_one_may_look_and_no_denial_does() -> None:
    for operation in (READ, WRITE, AclOperation.DELETE, AclOperation.ALTER, ALL):
        assert may(authorizer(acl("orders", operation)), DESCRIBE)
    for operation in (AclOperation.CREATE, AclOperation.ALTER_CONFIGS):
        assert not may(authorizer(acl("orders", operation)), DESCRIBE)
    configs = AclOperation.DESCRIBE_CONFIGS
    assert may(authorizer(acl("orders", AclOperation.ALTER_CONFIGS)), configs)
    assert not may(authorizer(acl("orders", AclOperation.ALTER)), configs)
    assert may(authorizer(acl("orders", DESCRIBE), acl("orders", READ, DENY)), DESCRIBE)


@pytest.mark.parametrize(
    ("written", "host", "fits"),
    [
        ("10.0.0.1", "10.0.0.1", True),
        ("10.0.0.1", "10.0.0.2", False),
        ("*", "10.0.0.2", True),
        ("0:0:0:0:0:0:0:1", "::1", True),
        ("::1", "::1", True),
        ("fe80:0:0:0:0:0:0:1", "fe80::1%eth0", True),
        ("0000:0000:0000:0000:0000:0000:0000:0001", "::1", True),
        ("0:0::1", "::1", True),
        ("FE80::00a1", "fe80::a1", True),
        ("::1", "0:0:0:0:0:0:0:1", True),
        ("fe80::1%eth0", "fe80::1%eth0", True),
        ("fe80::1%eth1", "fe80::1%eth0", False),
        ("::ffff:10.0.0.1", "10.0.0.1", True),
        ("::ffff:a00:1", "::ffff:10.0.0.1", True),
        ("no:address", "::1", False),
        ("10.0.0.1", "::ffff:10.0.0.1", True),
        ("::2", "::1", False),
    ],
)
def test_hosts_are_addresses_in_any_spelling(written: str, host: str, fits: bool) -> None:
    assert may(authorizer(acl("orders", host=written)), by=session(host=host)) == fits


def test_a_decision_is_kept_until_the_acls_change() -> None:
    decides = authorizer(acl("orders"))
    assert may(decides)
    assert may(decides)
    assert decides.authorize_by_type(session(), READ, ResourceType.TOPIC)
    decides.change([], [acl("orders")])
    assert not may(decides)
    assert not decides.authorize_by_type(session(), READ, ResourceType.TOPIC)
    decides.change([acl("ord", pattern_type=PREFIXED)])
    assert may(decides)
    decides.change([], [acl("ord", pattern_type=PREFIXED), acl("never there")])
    assert not may(decides)
    assert len(decides.acls) == 0


def test_a_right_on_any_resource_of_a_type() -> None:
    def anywhere(*acls: Acl) -> bool:
        return authorizer(*acls).authorize_by_type(session(), WRITE, ResourceType.TOPIC)

    def denied(name: str, pattern_type: PatternType = LITERAL) -> Acl:
        return acl(name, WRITE, DENY, pattern_type=pattern_type)

    one, some = acl("orders", WRITE), acl("ord", WRITE, pattern_type=PREFIXED)
    assert not anywhere()
    assert not anywhere(acl("orders", READ))
    assert not anywhere(acl("g", WRITE, resource_type=ResourceType.GROUP))
    for right in (one, some, acl("*", ALL), acl("x", WRITE, principal="User:*")):
        assert anywhere(right)
        assert not anywhere(right, denied("*"))
    assert not anywhere(one, denied("orders"))
    assert not anywhere(one, denied("o", PREFIXED))
    assert not anywhere(some, denied("ord", PREFIXED))
    assert anywhere(some, denied("order", PREFIXED))
    assert anywhere(some, denied("ord"))
    assert anywhere(acl("*", WRITE), denied("hard", PREFIXED))


_some = st.builds(
    acl,
    name=st.sampled_from(["*", "a", "ab", "abc", "b"]),
    operation=st.sampled_from([READ, WRITE, DESCRIBE, ALL]),
    permission=st.sampled_from([ALLOW, ALLOW, DENY]),
    principal=st.sampled_from(["User:ann", "User:bob", "User:*"]),
    host=st.sampled_from(["*", "10.0.0.1", "10.0.0.2"]),
    pattern_type=st.sampled_from([LITERAL, PREFIXED]),
    resource_type=st.sampled_from([ResourceType.TOPIC, ResourceType.GROUP]),
)


@settings(max_examples=often(150, in_soak=3000))
@given(
    st.lists(_some, max_size=8),
    st.lists(_some, max_size=4),
    st.sampled_from(["a", "ab", "abcd", "b", "c"]),
    st.sampled_from([READ, WRITE, DESCRIBE]),
    st.booleans(),
)
def test_the_index_finds_what_looking_at_all_of_them_finds(
    added: list[Acl], removed: list[Acl], name: str, operation: AclOperation, if_none: bool
) -> None:
    decides = authorizer(*added, *removed, allows_if_no_acl=if_none)
    decides.change((), removed)
    left = set(added) - set(removed)
    assert set(decides.acls) == left
    assert may(decides, operation, topic(name)) == _slowly(left, name, operation, if_none)


def _slowly(acls: Iterable[Acl], name: str, operation: AclOperation, if_none: bool) -> bool:
    match = AclFilter(ResourceType.TOPIC, PatternType.MATCH, name)
    found = [each for each in acls if match.matches(each)]
    permissions = {
        each.permission
        for each in found
        if each.principal in ("User:ann", "User:*")
        and each.host in ("*", "10.0.0.1")
        and (
            each.operation in (operation, ALL)
            or (operation is DESCRIBE and each.permission is ALLOW)
        )
    }
    return permissions == {ALLOW} if found else if_none


def test_settings_make_an_authorizer() -> None:
    assert authorizer_of(BrokerConfig({})) is None
    given = {
        "authorizer.class.name": STANDARD_AUTHORIZER,
        "super.users": "User:CN=a,OU=b; User:ops ;",
        "allow.everyone.if.no.acl.found": "true",
    }
    decides = authorizer_of(BrokerConfig(given))
    assert decides is not None
    assert decides.allows_all(Principal(USER, "CN=a,OU=b"))
    assert decides.allows_all(Principal(USER, "ops"))
    assert not decides.allows_all(Principal(USER, ""))
    assert may(decides)
    with pytest.raises(ConfigError, match="StandardAuthorizer"):
        BrokerConfig({"authorizer.class.name": "com.example.MyAuthorizer"})


def test_a_refusal_is_counted_each_time_and_logged_once_a_minute(
    caplog: pytest.LogCaptureFixture,
) -> None:
    decides = authorizer()
    with caplog.at_level(logging.WARNING, "headwater.authorizer"):
        for _ in range(3):
            decides.denied(session(host="10.9.9.9"), WRITE, topic("secret"))
        decides.denied(session("eve", "10.9.9.9"), WRITE, topic("secret"))
    assert decides.denials.counts[WRITE, ResourceType.TOPIC] == 4
    assert [record.getMessage() for record in caplog.records] == [
        "denied User:ann at 10.9.9.9: no WRITE on TOPIC secret",
        "denied User:eve at 10.9.9.9: no WRITE on TOPIC secret",
    ]
