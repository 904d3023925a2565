"""The order in which services start."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headwater.up.service import Service, start_order


def service(name: str, *depends_on: str) -> Service:
    return Service(name, ("true",), (), depends_on)


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


def test_what_must_run_needs_nothing_that_may_fail() -> None:
    may_fail = replace(service("b"), is_essential=False)
    assert names(replace(service("a", "b"), is_essential=False), may_fail) == ["b", "a"]
    with pytest.raises(ValueError, match="a is essential and cannot depend on b"):
        names(service("a", "b"), may_fail)
