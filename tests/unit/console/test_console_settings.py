"""The console's settings, and pages of long lists."""

from __future__ import annotations

import pytest

from headwater.config import ConfigError
from headwater.console.config import ConsoleConfig
from headwater.console.model.paging import Wanted, page_of


def test_defaults() -> None:
    config = ConsoleConfig.from_settings({})
    assert (config.host, config.port, config.cluster.is_read_only) == ("127.0.0.1", 9021, False)
    assert config.cluster.access.bootstrap_servers == "localhost:9092"
    assert config.cluster.registry_access is None


def test_settings_of_clients() -> None:
    config = ConsoleConfig.from_settings(
        {
            "bootstrap.servers": "a:1,b:2",
            "client.security.protocol": "SSL",
            "schema.registry.url": "http://sr:8081",
            "schema.registry.basic.auth.user.info": "ann:secret",
            "monitor.url": "http://m:9308/",
            "connect.url": "https://c:8083",
            "connect.basic.auth.user.info": "eve:secret",
            "read.only": "true",
        }
    )
    assert config.cluster.access.librdkafka()["security.protocol"] == "SSL"
    assert config.cluster.registry_access is not None
    assert config.cluster.registry_access.username == "ann"
    monitor = config.cluster.service_access("monitor")
    assert monitor is not None
    assert monitor.urls == ("http://m:9308",)
    connect = config.cluster.service_access("connect")
    assert connect is not None
    assert (connect.urls, connect.username) == (("https://c:8083",), "eve")
    assert config.cluster.service_access("ksql") is None
    assert config.cluster.is_read_only


def test_what_is_no_address() -> None:
    with pytest.raises(ConfigError, match="not of the form http://HOST:PORT"):
        ConsoleConfig.from_settings({"monitor.url": "localhost:9308"})


def test_a_page_of_a_list() -> None:
    names = [f"topic-{number:03d}" for number in range(120)]
    first = page_of(names, Wanted(), str, {})
    assert (first.items[0], len(first.items), first.pages) == ("topic-000", 50, 3)
    last = page_of(names, Wanted(page=99), str, {})
    assert (last.number, last.items[-1], len(last.items)) == (3, "topic-119", 20)
    found = page_of(names, Wanted("TOPIC 11"), str, {})
    assert (found.found, found.total) == (11, 120)
    order = page_of(names, Wanted(sort="-size"), str, {"size": lambda name: int(name[-1])})
    assert order.items[0] == "topic-009"
    unknown = {"size": lambda name: None if name == "topic-007" else int(name[-1])}
    assert page_of(names, Wanted(sort="size"), str, unknown).items[0] == "topic-007"
