"""Who may do what and why: as the broker's own authorizer decides; and the matrix of ACLs."""

from __future__ import annotations

import random
from itertools import product

from headwater.broker.acls import acl as broker_acls
from headwater.broker.acls.standard_authorizer import StandardAuthorizer
from headwater.broker.authorizer import Resource
from headwater.broker.session import Authentication, Principal, Session
from headwater.clients.raw.acls import Acl
from headwater.console.model.paging import Wanted
from headwater.console.model.security.acl_matrix import MOST_RESOURCES, Pattern, Right, matrix_of
from headwater.console.model.security.permissions import OPERATIONS_OF, Asked, Permissions
from headwater.console.view.security.permissions_page import _asked_in
from headwater.protocol.acls import AclOperation, PatternType, PermissionType, ResourceType

NAMES = ("orders", "orders-eu", "ord", "*")
PRINCIPALS = ("User:ann", "User:bob", "User:*")
HOSTS = ("*", "10.0.0.1")


def _acl(line: str) -> Acl:
    """Read an ACL: ALLOW User:ann READ TOPIC orders*."""
    permission, principal, operation, kind, name = line.split()
    pattern = "PREFIXED" if name.endswith("*") and name != "*" else "LITERAL"
    name = name.rstrip("*") if pattern == "PREFIXED" else name
    return Acl(kind, name, pattern, principal, "*", operation, permission)


def _random_acl(chance: random.Random) -> Acl:
    operation = chance.choice((*OPERATIONS_OF["TOPIC"], "ALL"))
    return Acl(
        chance.choice(("TOPIC", "GROUP")),
        chance.choice(NAMES),
        chance.choice(("LITERAL", "PREFIXED")),
        chance.choice(PRINCIPALS),
        chance.choice(HOSTS),
        operation,
        chance.choice(("ALLOW", "ALLOW", "DENY")),
    )


def _as_the_broker_has_it(acl: Acl) -> broker_acls.Acl:
    pattern = broker_acls.ResourcePattern(
        ResourceType[acl.resource_type], PatternType[acl.pattern_type], acl.name
    )
    return broker_acls.Acl(
        pattern,
        acl.principal,
        acl.host,
        AclOperation[acl.operation],
        PermissionType[acl.permission],
    )


def test_a_name_alone_is_a_user() -> None:
    for given, principal in (("ann", "User:ann"), ("User:ann", "User:ann"), ("", "")):
        asked = _asked_in({"principal": given, "name": "orders"})
        assert asked == Asked(principal, "TOPIC", "orders")


def test_it_is_decided_as_the_broker_does() -> None:
    chance = random.Random(13)
    seen: set[bool] = set()
    for allows_if_no_acl in (False, True) * 30:
        acls = [_random_acl(chance) for _ in range(chance.randrange(5))]
        authorizer = StandardAuthorizer((), allows_if_no_acl=allows_if_no_acl)
        authorizer.change(map(_as_the_broker_has_it, acls))
        permissions = Permissions(acls, frozenset(), allows_if_no_acl)
        for name, who, host in product(("orders", "orders-eu", "o"), ("ann", "eve"), HOSTS[1:]):
            session = Session(
                "L", "SSL", host, 1, authorizer, Authentication(Principal("User", who))
            )
            for each in permissions.verdicts(Asked(f"User:{who}", "TOPIC", name, host)):
                resource = Resource(ResourceType.TOPIC, name)
                theirs = authorizer.authorize(session, AclOperation[each.operation], resource)
                assert each.is_allowed is theirs, (acls, name, who, each)
                seen.add(theirs)
    assert seen == {True, False}


def test_why_somebody_may() -> None:
    acls = [
        _acl("ALLOW User:ann READ TOPIC orders*"),
        _acl("DENY User:* DELETE TOPIC *"),
        _acl("ALLOW User:ann ALL GROUP billing"),
    ]
    permissions = Permissions(acls, frozenset({"User:root"}), allows_if_no_acl=None)
    assert permissions.principals() == ["User:ann", "User:root"]
    of_ann = {
        each.operation: each for each in permissions.verdicts(Asked("User:ann", "TOPIC", "orders"))
    }
    assert of_ann["READ"].acls == (acls[0],)
    assert of_ann["DESCRIBE"].why == "who may read may do this as well"
    assert (of_ann["DELETE"].why, of_ann["DELETE"].acls) == (
        "a denial wins over all else",
        (acls[1],),
    )
    assert not of_ann["WRITE"].is_allowed
    assert all(each.is_allowed for each in permissions.verdicts(Asked("User:root", "TOPIC", "x")))
    (first, *_) = permissions.verdicts(Asked("", "CLUSTER", "kafka-cluster"))
    assert first.why.startswith("it has no ACLs; with allow.everyone")


def test_the_matrix() -> None:
    acls = [
        _acl("ALLOW User:ann READ TOPIC orders*"),
        _acl("DENY User:ann WRITE TOPIC orders*"),
        _acl("ALLOW User:* DESCRIBE TOPIC *"),
    ]
    matrix = matrix_of(acls, Wanted())
    everything, prefix = Pattern("TOPIC", "*", "LITERAL"), Pattern("TOPIC", "orders", "PREFIXED")
    assert (list(matrix.patterns), matrix.more_patterns) == ([everything, prefix], 0)
    assert list(matrix.principals.items) == ["User:*", "User:ann"]
    assert everything.is_everything
    assert prefix.is_prefix
    rights = [Right(is_allowed=False, operation="WRITE", host="*"), Right(True, "READ", "*")]
    assert matrix.rights["User:ann", prefix] == rights
    assert list(matrix_of(acls, Wanted("deny ann")).rights) == [("User:ann", prefix)]


def test_a_large_matrix_is_paged() -> None:
    acls = [_acl(f"ALLOW User:u{number:03} READ TOPIC t{number:03}") for number in range(500)]
    matrix = matrix_of(acls, Wanted(page=2))
    assert (len(matrix.patterns), matrix.more_patterns) == (MOST_RESOURCES, 50 - MOST_RESOURCES)
    assert (matrix.principals.items[0], matrix.principals.pages) == ("User:u050", 10)
    assert matrix.patterns[0].name == "t050"
