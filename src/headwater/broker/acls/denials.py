"""What clients were refused: a line in the log for each cause and minute, and a count."""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING

from headwater.log.rate_limited_logger import RateLimitedLogger

if TYPE_CHECKING:
    from headwater.broker.authorizer import Resource
    from headwater.broker.session import Session
    from headwater.protocol.acls import AclOperation, ResourceType

_log = RateLimitedLogger(logging.getLogger("headwater.authorizer"))


class Denials:
    """Counts by operation and type of resource: names and principals would have no end."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[AclOperation, ResourceType]] = Counter()

    def note(self, session: Session, operation: AclOperation, resource: Resource) -> None:
        """Count a refusal, and log it unless the same was logged within a minute."""
        self.counts[operation, resource.type] += 1
        host = session.client_host
        _log.warning(
            (session.principal, host, operation, resource),
            "denied %s at %s: no %s on %s", session.principal, host, operation.name, resource,
        )  # fmt: skip
