"""What a decision costs with few and with many ACLs: `python -m benchmarks.acls`."""

from __future__ import annotations

import sys
import timeit
from functools import partial
from typing import TYPE_CHECKING

from headwater.broker.acls.acl import Acl, ResourcePattern
from headwater.broker.acls.standard_authorizer import StandardAuthorizer
from headwater.broker.authorizer import ALLOW_ALL, topic
from headwater.broker.requests.request import Request
from headwater.broker.session import Session
from headwater.protocol.acls import AclOperation, PatternType, PermissionType, ResourceType
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.frames import RequestHeader

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.broker.authorizer import Authorizer

_COUNTS = (10, 1_000, 10_000, 100_000)
_PRINCIPALS = 200
_ASKED = "team-7.orders"


def main() -> None:
    """Print a table: ACLs, loading them, a decision that is new, one that is remembered."""
    none = _microseconds(_question(ALLOW_ALL))
    sys.stdout.write(f"without an authorizer: {none:.2f} us a question\n")
    sys.stdout.write("ACLs     loaded, ms   a change, us   new, us   remembered, us\n")
    for count in _COUNTS:
        acls = [_acl(number) for number in range(count)]
        authorizer = StandardAuthorizer(())
        loaded = timeit.timeit(partial(authorizer.change, acls), number=1) * 1e3
        change = _microseconds(partial(_toggle, authorizer, _acl(count)), 100) / 2
        remembered = _microseconds(_question(authorizer))
        new = _microseconds(partial(_ask_anew, authorizer, _question(authorizer)))
        sys.stdout.write(
            f"{count:<8} {loaded:<12.1f} {change:<14.1f} {new:<9.2f} {remembered:.2f}\n"
        )


def _acl(number: int) -> Acl:
    """Half of them for a topic, half for a prefix; those of our principal among all others."""
    literal = number % 2 == 0
    kind = PatternType.LITERAL if literal else PatternType.PREFIXED
    name = f"team-{number}.orders" if literal else f"team-{number}"
    principal = "User:ANONYMOUS" if number == 7 else f"User:u{number % _PRINCIPALS}"
    pattern = ResourcePattern(ResourceType.TOPIC, kind, name)
    return Acl(pattern, principal, "*", AclOperation.READ, PermissionType.ALLOW)


def _question(authorizer: Authorizer) -> Callable[[], object]:
    session = Session("PLAINTEXT", "PLAINTEXT", "127.0.0.1", 1, authorizer)
    header = RequestHeader(ApiKey.FETCH, 12, 1, "bench", 0)
    request = Request(header, memoryview(b""), session)
    assert request.authorize(AclOperation.READ, topic(_ASKED))
    return lambda: request.authorize(AclOperation.READ, topic(_ASKED))


def _ask_anew(authorizer: StandardAuthorizer, ask: Callable[[], object]) -> None:
    authorizer.change(())
    ask()


def _toggle(authorizer: StandardAuthorizer, acl: Acl) -> None:
    authorizer.change([acl])
    authorizer.change((), [acl])


def _microseconds(call: Callable[[], object], number: int = 20_000) -> float:
    return min(timeit.repeat(call, number=number, repeat=5)) / number * 1e6


if __name__ == "__main__":
    main()
