"""The order in which services start."""

from __future__ import annotations

import pytest

from headwater.up.health import HttpCheck
from headwater.up.service import Service, start_order


def service(name: str, *depends_on: str) -> Service:
    return Service(name, ("true",), "", "", HttpCheck("127.0.0.1", 1), depends_on)


def names(*services: Service) -> list[str]:
    return [each.name for each in start_order(services)]


def test_each_after_what_it_needs_else_as_given() -> None:
    assert names(service("b"), service("a")) == ["b", "a"]
    assert names(service("c", "a", "b"), service("b", "a"), service("a")) == ["a", "b", "c"]
    assert names(service("x"), service("c", "a"), service("a")) == ["x", "a", "c"]


def test_what_cannot_be_ordered() -> None:
    with pytest.raises(ValueError, match="in a circle: b -> c -> b"):
        names(service("a", "b"), service("b", "c"), service("c", "b"))
    with pytest.raises(ValueError, match="a depends on b, which is not there"):
        names(service("a", "b"))
