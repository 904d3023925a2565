"""The services of the platform: their commands, ports and order, for each way to run them."""

from __future__ import annotations

import json
import socket
from dataclasses import replace
from pathlib import Path

import pytest
from tests.waiting import wait_for

from headwater.security.init import KitPlan, make_kit
from headwater.spark.secret_settings import public_and_secret
from headwater.up import platform
from headwater.up.platform import Platform
from headwater.up.ports import PORTS, PortTakenError
from headwater.up.service import Service, start_order
from headwater.up.settings import PlatformSettings


def option(command: object, name: str) -> str:
    assert isinstance(command, tuple)
    return str(command[command.index(name) + 1])


def address(service: Service) -> str:
    (place,) = service.endpoints
    assert place.name == service.name
    return place.address


@pytest.fixture
def all_ports_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """What else runs on this machine must not matter."""
    monkeypatch.setattr(platform, "check_free", lambda *_: None)


@pytest.mark.usefixtures("all_ports_free")
def test_the_embedded_broker_and_the_registry_on_it() -> None:
    made = Platform(PlatformSettings(data=Path("/data"), port_offset=-1000))
    broker, registry, console = start_order(made.services)
    assert (broker.name, address(broker)) == ("broker", "127.0.0.1:8092")
    assert option(broker.command, "--port") == "8092"
    assert option(broker.command, "--data") == "/data/broker"
    assert (registry.name, address(registry)) == ("registry", "http://127.0.0.1:7081")
    assert option(registry.command, "--bootstrap-server") == address(broker)
    assert registry.depends_on == ("broker",)
    assert (console.name, address(console)) == ("console", "http://127.0.0.1:8021")
    assert f"schema.registry.url={address(registry)}" in console.command
    assert "platform.url=http://127.0.0.1:8020" in console.command
    assert not console.is_essential


def test_the_console_takes_other_addresses_from_its_settings() -> None:
    elsewhere = {"console": {"schema.registry.url": "http://sr:1"}}
    made = Platform(
        PlatformSettings(
            with_services=("monitor",), free_ports=True, properties=elsewhere, services=("console",)
        )
    )
    *_, monitor, console = made.services
    assert f"monitor.url={address(monitor)}" in console.command
    assert not [word for word in console.command if word.startswith("schema.registry.url")]
    made.close()


def test_the_console_knows_services_on_spark() -> None:
    with Platform(PlatformSettings(with_services=("connect", "sql"), free_ports=True)) as made:
        *_, console, spark = made.services
        connect, sql = (place.address for place in spark.endpoints)
        assert f"connect.url={connect}" in console.command
        assert f"ksql.url={sql}" in console.command


def test_the_proxy_knows_the_registry() -> None:
    made = Platform(PlatformSettings(with_services=("rest",), free_ports=True))
    _, registry, rest, _ = made.services
    assert option(rest.command, "--registry") == address(registry)
    made.close()
    elsewhere = {"rest": {"schema.registry.url": "http://sr:1"}}
    made = Platform(
        PlatformSettings(with_services=("rest",), free_ports=True, properties=elsewhere)
    )
    assert "--registry" not in made.services[2].command
    made.close()


def test_an_existing_cluster() -> None:
    secrets = Path("client.properties")
    made = Platform(
        PlatformSettings(bootstrap_server="kafka:9092", command_config=secrets, free_ports=True)
    )
    registry, _ = made.services
    assert option(registry.command, "--bootstrap-server") == "kafka:9092"
    assert option(registry.command, "--command-config") == "client.properties"
    assert registry.depends_on == ()
    made.close()


def test_every_interface() -> None:
    made = Platform(PlatformSettings(host="0.0.0.0", free_ports=True))
    for service in made.services:
        assert option(service.command, "--host") == "0.0.0.0"
        assert "127.0.0.1:" in address(service)
    made.close()


def test_settings_go_to_their_service() -> None:
    properties = {"broker": {"num.partitions": "3", "flush": "os"}}
    made = Platform(PlatformSettings(free_ports=True, properties=properties))
    broker, registry, _ = made.services
    assert broker.environment == {
        "HEADWATER_BROKER_NUM_PARTITIONS": "3",
        "HEADWATER_BROKER_FLUSH": "os",
    }
    assert registry.environment == {}
    assert "--property" not in (*broker.command, *registry.command)
    made.close()


def test_settings_that_no_variable_can_name_are_in_one_for_all() -> None:
    properties = {"registry": {"kafkastore.an_odd.name": "1", "kafkastore.sasl.username": "ann"}}
    made = Platform(PlatformSettings(free_ports=True, properties=properties))
    _, registry, _ = made.services
    assert "--property" not in registry.command
    assert registry.environment == {
        "HEADWATER_REGISTRY_KAFKASTORE_SASL_USERNAME": "ann",
        "HEADWATER_OTHERS_REGISTRY": '{"kafkastore.an_odd.name": "1"}',
    }
    made.close()


def test_no_setting_is_on_a_command_line() -> None:
    services = ("broker", "registry", "rest", "monitor", "console", "connect", "sql")
    names = ("listener.name.sasl_ssl.plain.sasl.jaas.config", "an-odd.name", "Odd", "password")
    properties = {service: dict.fromkeys(names, "hush") for service in services}
    asked = PlatformSettings(free_ports=True, services=services, properties=properties)
    with Platform(asked) as made:
        assert not [word for each in made.services for word in each.command if "hush" in word]


def test_a_port_that_is_taken() -> None:
    def refusal() -> tuple[int, str]:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            offset = port - PORTS["registry"]
            with pytest.raises(PortTakenError) as refused:
                Platform(PlatformSettings(bootstrap_server="kafka:9092", port_offset=offset))
        return port, str(refused.value)

    # Somebody else may have another port of a platform that stands just there: then elsewhere.
    port, told = wait_for(refusal, until=lambda answer: f"port {answer[0]}," in answer[1])
    assert f"port {port}, where the registry should listen" in told


def test_spark_with_keys_has_no_interface_of_its_own_and_a_secret(tmp_path: Path) -> None:
    def settings_of_spark(**given: str) -> dict[str, str]:
        asked = replace(settings, properties={"spark": given} if given else {})
        with Platform(asked) as made:
            (spark,) = (each for each in made.services if each.name == "spark")
            found: dict[str, str] = json.loads(spark.environment["HEADWATER_SPARK"])
            assert not any(found.get("authenticate.secret", "?") in word for word in spark.command)
            return found

    settings = PlatformSettings(data=tmp_path, free_ports=True, services=("sql",))
    assert settings_of_spark() == {}
    settings = replace(settings, security=make_kit(tmp_path / "keys", KitPlan()))
    first, second = settings_of_spark(), settings_of_spark(**{"driver.memory": "2g"})
    assert (first["ui.enabled"], first["authenticate"]) == ("false", "true")
    assert len(first["authenticate.secret"]) >= 32
    assert first["authenticate.secret"] != second["authenticate.secret"]
    assert second["driver.memory"] == "2g"
    # On its way to the JVM it is a secret as well.
    _, secret = public_and_secret({f"spark.{name}": text for name, text in first.items()})
    assert secret == {"spark.authenticate.secret": first["authenticate.secret"]}
    # Who wants it has it.
    assert settings_of_spark(**{"ui.enabled": "true"})["ui.enabled"] == "true"


def test_a_platform_with_keys(tmp_path: Path) -> None:
    kit = make_kit(tmp_path / "keys", KitPlan())
    properties = {"registry": {"schema.compatibility.level": "FULL"}}
    settings = PlatformSettings(
        with_services=("rest",), free_ports=True, security=kit, properties=properties
    )
    with Platform(settings) as made:
        broker, registry, rest, console = made.services
        assert "--host" not in broker.command
        where = broker.environment["HEADWATER_BROKER_LISTENERS"]
        assert where == f"SASL_SSL://{address(broker)}"
        assert broker.environment["HEADWATER_BROKER_SUPER_USERS"] == (
            "User:admin;User:registry;User:rest;User:console"
        )
        for service in (registry, rest, console):
            assert address(service).startswith("https://")
            assert option(service.command, "--command-config") == str(
                kit.service(service.name).librdkafka
            )
        assert registry.environment["HEADWATER_REGISTRY_SCHEMA_COMPATIBILITY_LEVEL"] == "FULL"
        users = "AUTHENTICATION_USERS_FILE"
        assert registry.environment[f"HEADWATER_REGISTRY_{users}"] == str(kit.http_users)
        # It would do with its own rights what others may not.
        assert rest.environment[f"HEADWATER_REST_{users}"] == str(kit.http_admins)
        assert console.environment[f"HEADWATER_CONSOLE_{users}"] == str(kit.http_admins)
        status = f"platform.url=https://127.0.0.1:{made.status_port}"
        credentials = f"console:{kit.service('console').password_reference}"
        for word in (status, f"platform.basic.auth.user.info={credentials}"):
            assert word in console.command
        assert f"platform.ssl.ca.location={kit.authority}" in console.command
        own = rest.environment["HEADWATER_REST_SCHEMA_REGISTRY_BASIC_AUTH_USER_INFO"]
        assert own == f"rest:{kit.service('rest').password_reference}"
