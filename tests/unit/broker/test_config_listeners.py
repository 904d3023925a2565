from __future__ import annotations

import pytest

from headwater.broker.config import BrokerConfig, Endpoint
from headwater.config import ConfigError


def test_a_listener_has_a_name_a_protocol_a_host_and_a_port() -> None:
    config = BrokerConfig(
        {
            "listeners": "inside://127.0.0.1:9092, OUTSIDE://[::1]:9093",
            "listener.security.protocol.map": "INSIDE:PLAINTEXT,outside:plaintext",
        }
    )
    assert config.listeners == (
        Endpoint("INSIDE", "PLAINTEXT", "127.0.0.1", 9092),
        Endpoint("OUTSIDE", "PLAINTEXT", "::1", 9093),
    )
    assert str(config.listeners[1]) == "OUTSIDE://[::1]:9093"


def test_clients_are_told_what_is_advertised() -> None:
    config = BrokerConfig(
        {
            "listeners": "PLAINTEXT://0.0.0.0:9092",
            "advertised.listeners": "PLAINTEXT://example.com:19092",
        }
    )
    assert config.advertised("PLAINTEXT", ("0.0.0.0", 9092)) == ("example.com", 19092)


def test_clients_are_told_the_port_that_was_free() -> None:
    config = BrokerConfig({"listeners": "PLAINTEXT://127.0.0.1:0"})
    assert config.advertised("PLAINTEXT", ("127.0.0.1", 45678)) == ("127.0.0.1", 45678)


def test_without_a_host_clients_are_told_the_name_of_the_machine() -> None:
    host, port = BrokerConfig({"listeners": "PLAINTEXT://:9092"}).advertised(
        "PLAINTEXT", ("0.0.0.0", 9092)
    )
    assert host
    assert host != "0.0.0.0"
    assert port == 9092


def test_kafkas_sample_file_is_understood() -> None:
    config = BrokerConfig(
        {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.bootstrap.servers": "localhost:9093",
            "listeners": "PLAINTEXT://:9092,CONTROLLER://:9093",
            "inter.broker.listener.name": "PLAINTEXT",
            "advertised.listeners": "PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "num.network.threads": "3",
            "log.dirs": "/tmp/kraft-combined-logs",
            "offsets.topic.replication.factor": "1",
        }
    )
    assert [endpoint.name for endpoint in config.listeners] == ["PLAINTEXT"]
    assert config.advertised("PLAINTEXT", ("0.0.0.0", 9092)) == ("localhost", 9092)
    assert any("CONTROLLER" in notice for notice in config.notices)
    assert any("num.network.threads" in notice for notice in config.notices)


def test_a_controllers_listener_needs_no_entry_in_the_map() -> None:
    config = BrokerConfig({"listeners": "PLAINTEXT://:9092,CONTROLLER://:9093"})
    assert [endpoint.name for endpoint in config.controller_listeners] == ["CONTROLLER"]


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"listeners": ""}, "non-empty list"),
        ({"listeners": "localhost:9092"}, "NAME://host:port"),
        ({"listeners": "PLAINTEXT://localhost"}, "NAME://host:port"),
        ({"listeners": "PLAINTEXT://localhost:99999"}, "no port"),
        ({"listeners": "PLAINTEXT://localhost:-1"}, "no port"),
        ({"listeners": "MINE://:1"}, r"MINE:PLAINTEXT"),
        ({"listeners": "PLAINTEXT://:1,plaintext://:2"}, "name of its own"),
        (
            {
                "listeners": "A://:1,B://:1",
                "listener.security.protocol.map": "A:PLAINTEXT,B:PLAINTEXT",
            },
            "port of its own",
        ),
        (
            {
                "listeners": "A://127.0.0.1:1,B://127.0.0.2:1",
                "listener.security.protocol.map": "A:PLAINTEXT,B:PLAINTEXT",
            },
            "port of its own",
        ),
        ({"inter.broker.listener.name": "OTHER"}, "must be one of the listeners, PLAINTEXT"),
        ({"listeners": "CONTROLLER://:1"}, "controller listeners"),
        ({"listeners": "PLAINTEXT://0.0.0.0:1"}, r"0\.0\.0\.0"),
        ({"advertised.listeners": "PLAINTEXT://0.0.0.0:1"}, r"0\.0\.0\.0"),
        ({"advertised.listeners": "SSL://x:1"}, "no listener of that name"),
        ({"listener.security.protocol.map": "PLAINTEXT"}, "NAME:PROTOCOL"),
        ({"listener.security.protocol.map": "PLAINTEXT:TLS"}, "no security protocol"),
        ({"listener.security.protocol.map": "A:SSL,a:SSL"}, "twice"),
        ({"listener.name.other.max.connections": "3"}, "no listener other"),
    ],
)
def test_what_is_wrong_with_listeners_is_said(settings: dict[str, str], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        BrokerConfig(settings)


def test_one_port_may_serve_both_families_of_addresses() -> None:
    config = BrokerConfig(
        {
            "listeners": "A://127.0.0.1:9092,B://[::1]:9092",
            "listener.security.protocol.map": "A:PLAINTEXT,B:PLAINTEXT",
        }
    )
    assert len(config.listeners) == 2
