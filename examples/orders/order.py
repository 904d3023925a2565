"""An order as its events make it: created, and later validated or failed, once and for all."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

State = Literal["CREATED", "VALIDATED", "FAILED"]


class NewOrder(msgspec.Struct, forbid_unknown_fields=True):
    """What a customer sends.

    With an `id` of his own he may send it again when he got no answer, and has still ordered once.
    """

    customer: str
    product: str
    quantity: int
    price: int  # of one piece, in cents
    id: str | None = None


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """An order after the events that there were so far; as an event it is what it came to."""

    id: str
    state: State = "CREATED"
    customer: str
    product: str
    quantity: int
    price: int
    failed: list[str] = []
    """The checks that it did not pass."""

    @property
    def is_final(self) -> bool:
        """Whether nothing more happens to it."""
        return self.state != "CREATED"

    def event(self) -> dict[str, Any]:
        """Return it as it is written."""
        return msgspec.structs.asdict(self)

    @classmethod
    def of(cls, event: dict[str, Any]) -> Order:
        """Return what was written; raises msgspec.ValidationError."""
        return msgspec.convert(event, cls)

    def wants_what(self, other: Order) -> bool:
        """Tell whether somebody ordered the same again, rather than something else."""
        return _wanted(self) == _wanted(other)

    def settled(self, outcome: dict[str, Any]) -> Order:
        """Return it in its final state."""
        return msgspec.structs.replace(self, state=outcome["state"], failed=outcome["failed"])


def _wanted(order: Order) -> tuple[str, str, int, int]:
    return order.customer, order.product, order.quantity, order.price
