"""Which services are run: the usual ones, those that are named, and what these need."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.up.services import SERVICES, SelectionError, selected
from headwater.up.services.broker import BROKER
from headwater.up.services.console import CONSOLE
from headwater.up.services.factory import ServiceFactory
from headwater.up.services.registry import REGISTRY
from headwater.up.settings import PlatformSettings

EXTRA = ServiceFactory("extra", lambda _: [], needs=("registry",), is_usual=False)
ALL = (*SERVICES, EXTRA)


def names(**settings: Any) -> list[str]:
    return [each.name for each in selected(PlatformSettings(**settings), ALL)]


def test_the_usual_ones() -> None:
    assert selected(PlatformSettings()) == [BROKER, REGISTRY, CONSOLE]
    assert names() == ["broker", "registry", "console"]


def test_more_and_fewer() -> None:
    assert names(without_services=("registry",)) == ["broker", "console"]
    assert names(with_services=("extra",)) == ["broker", "registry", "console", "extra"]
    assert names(services=("broker",)) == ["broker"]
    assert names(services=("broker",), with_services=("registry",)) == ["broker", "registry"]
    assert names(services=("broker", "registry"), without_services=("registry",)) == ["broker"]


def test_what_they_need_comes_along() -> None:
    assert names(services=("extra",)) == ["broker", "registry", "extra"]
    assert names(services=("extra",), bootstrap_server="k:1") == ["registry", "extra"]
    assert names(bootstrap_server="k:1") == ["registry", "console"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"services": ("sqll",)}, "no service 'sqll'; there are broker, registry, .*extra"),
        ({"with_services": ("x",)}, "no service 'x'; there are broker, registry, .*extra"),
        ({"without_services": ("x",)}, "no service 'x'; there are broker, registry, .*extra"),
        (
            {"services": ("registry",), "without_services": ("broker",)},
            "'registry' needs 'broker', which is left out; leave out 'registry' as well, or name a "
            "cluster with --bootstrap-server",
        ),
        (
            {"with_services": ("extra",), "without_services": ("registry",)},
            "'extra' needs 'registry', which is left out; leave out 'extra' as well$",
        ),
        (
            {"with_services": ("extra",), "without_services": ("extra",)},
            "'extra' is asked for and left out at once",
        ),
        ({"services": ()}, "no service left to run; there are broker"),
        ({"services": ("broker",), "without_services": ("broker",)}, "no service left to run"),
        ({"bootstrap_server": "k:1", "services": ("broker",)}, "no service left to run"),
    ],
)
def test_what_cannot_be_run(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SelectionError, match=message):
        names(**settings)


def test_names_are_unique_and_needs_are_there() -> None:
    known = [each.name for each in SERVICES]
    assert len(set(known)) == len(known)
    for number, each in enumerate(SERVICES):
        assert set(each.needs) <= set(known[:number])
