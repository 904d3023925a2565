"""One delegation token: who may log in as whom with it, and until when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from headwater.broker.session import Principal

if TYPE_CHECKING:
    from collections.abc import Mapping


class DelegationToken(NamedTuple):
    """What is kept of a token; its HMAC, which is its password, is made of its id each time."""

    id: str
    owner: Principal
    requester: Principal
    renewers: tuple[Principal, ...]
    issued_ms: int
    max_ms: int
    """Beyond this time nobody can renew it."""
    expires_ms: int

    def has_expired(self, now_ms: int) -> bool:
        """Whether it is good for nothing any more."""
        return self.max_ms < now_ms or self.expires_ms < now_ms

    def may_be_renewed_by(self, principal: Principal) -> bool:
        """Whether somebody may renew it, or let it expire."""
        return principal == self.owner or principal in self.renewers

    def concerns(self, principal: Principal) -> bool:
        """Whether somebody may see it without having a right to it."""
        return principal == self.requester or self.may_be_renewed_by(principal)


def token_to_json(token: DelegationToken) -> dict[str, Any]:
    """Write a token as the journal keeps it."""
    return {
        "id": token.id,
        "owner": list(token.owner),
        "requester": list(token.requester),
        "renewers": [list(renewer) for renewer in token.renewers],
        "issued": token.issued_ms,
        "max": token.max_ms,
        "expires": token.expires_ms,
    }


def token_from_json(fields: Mapping[str, Any]) -> DelegationToken:
    """Read what `token_to_json` wrote."""
    return DelegationToken(
        fields["id"],
        Principal(*fields["owner"]),
        Principal(*fields["requester"]),
        tuple(Principal(*renewer) for renewer in fields["renewers"]),
        fields["issued"],
        fields["max"],
        fields["expires"],
    )
