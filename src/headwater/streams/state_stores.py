"""State stores as a program describes them: what Kafka Streams calls store builders."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from headwater.plan.errors import PlanError
from headwater.plan.processing.processor import StateStore
from headwater.plan.windows import milliseconds
from headwater.streams.location import Located
from headwater.streams.types import as_type

if TYPE_CHECKING:
    from typing import Literal

    from headwater.plan.windows import Duration
    from headwater.streams.types import TypeLike

_NAME = re.compile(r"[a-zA-Z0-9._-]{1,200}")


def value_store(name: str, type_: TypeLike, *, ttl: Duration | None = None) -> StateStore:
    """Describe a store with one value for each key, for `App.add_state_store`."""
    with Located():
        return described(name, "value", type_, None, ttl)


def list_store(name: str, type_: TypeLike, *, ttl: Duration | None = None) -> StateStore:
    """Describe a store with a list for each key, for `App.add_state_store`."""
    with Located():
        return described(name, "list", type_, None, ttl)


def map_store(
    name: str, key: TypeLike, value: TypeLike, *, ttl: Duration | None = None
) -> StateStore:
    """Describe a store with a map for each key, for `App.add_state_store`."""
    with Located():
        return described(name, "map", value, key, ttl)


def described(
    name: str,
    kind: Literal["value", "list", "map"],
    value: TypeLike,
    key: TypeLike | None,
    ttl: Duration | None,
) -> StateStore:
    """Return a store of these types."""
    return StateStore(
        name,
        kind,
        as_type(value),
        None if key is None else as_type(key),
        None if ttl is None else milliseconds(ttl),
    )


def check_store_name(name: str) -> None:
    """Raise PlanError for a name that no file and no topic can have."""
    if _NAME.fullmatch(name) is None:
        raise PlanError(
            f"{name!r} cannot name a store, since a file is named after it: use letters, "
            "digits, '.', '_' and '-'"
        )
