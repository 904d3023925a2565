"""A door to the network is not opened by accident."""

from __future__ import annotations

import doctest
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from headwater.broker.config import BrokerConfig
from headwater.cli.app import headwater
from headwater.cli.options import exposure
from headwater.cli.options.exposure import VARIABLE, check_broker_exposure, check_http_exposure
from headwater.http.listener_settings import ListenerConfig
from headwater.http.tls import ClientAuthentication

if TYPE_CHECKING:
    from pathlib import Path

SERVICES = (
    *(["registry"], ["rest"], ["monitor", "server"], ["broker"], ["up"]),
    ["connect", "worker", "--engine", "kafka"],
)


def test_examples() -> None:
    assert doctest.testmod(exposure).failed == 0


@pytest.mark.parametrize("command", SERVICES, ids=" ".join)
def test_services_refuse_and_say_why(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    shown = CliRunner().invoke(headwater, [*command, "--host", "0.0.0.0", "--help"])
    assert "--insecure" in shown.output
    shown = CliRunner().invoke(headwater, [*command, "--host", "0.0.0.0"])
    assert shown.exit_code == 2, shown.output
    said = " ".join(shown.output.split())
    assert "let everybody in" in said
    assert "--insecure, or HEADWATER_INSECURE=true" in said


def test_services_on_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    service = ["--service", "tests.integration.copy_service:COPIER", "0"]
    shown = CliRunner().invoke(headwater, ["spark-services", *service, "--host", "0.0.0.0"])
    assert shown.exit_code == 2, shown.output
    assert "let everybody in" in " ".join(shown.output.split())


@pytest.mark.parametrize(
    ("listeners", "settings", "is_fine"),
    [
        ("PLAINTEXT://127.0.0.1:1", {}, True),
        ("PLAINTEXT://localhost:1", {}, True),
        ("PLAINTEXT://:1", {}, False),
        ("PLAINTEXT://[::]:1", {}, False),
        ("PLAINTEXT://127.0.0.1:1,SSL://:2", {}, False),
        ("SSL://:1", {"ssl.client.auth": "requested"}, False),
        ("SSL://:1", {"ssl.client.auth": "required"}, True),
        ("SSL://:1", {"listener.name.ssl.ssl.client.auth": "required"}, True),
        ("SASL_SSL://:1,PLAINTEXT://[::1]:2", {}, True),
        ("SASL_SSL://:1,PLAINTEXT://10.0.0.1:2", {}, False),
    ],
)
def test_a_broker(listeners: str, settings: dict[str, str], is_fine: bool) -> None:
    config = BrokerConfig({"listeners": listeners, **settings})
    check_broker_exposure(config, is_insecure=True)
    if is_fine:
        check_broker_exposure(config, is_insecure=False)
    else:
        with pytest.raises(Exception, match="let everybody in"):
            check_broker_exposure(config, is_insecure=False)


_KEYS = {"sasl.enabled.mechanisms": "SCRAM-SHA-256"}


@pytest.mark.parametrize(
    ("listeners", "options"),
    [
        ("SASL_PLAINTEXT://127.0.0.1:0", ["--port", "0"]),
        ("SASL_PLAINTEXT://127.0.0.1:0", ["--host", "127.0.0.2"]),
        ("PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.2:0", ["--port", "0"]),
    ],
)
@pytest.mark.parametrize("is_in_file", [True, False])
def test_no_option_puts_a_plain_listener_in_the_place_of_a_secured_one(
    listeners: str,
    options: list[str],
    is_in_file: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: list[BrokerConfig] = []
    monkeypatch.setattr("headwater.broker.run.run", started.append)
    file = tmp_path / "server.properties"
    text = "".join(f"{name}={value}\n" for name, value in _KEYS.items())
    if is_in_file:
        text += f"listeners={listeners}\n"
    else:
        monkeypatch.setenv("HEADWATER_BROKER_LISTENERS", listeners)
    file.write_text(text)
    command = ["broker", "--data", str(tmp_path / "data"), "--config", str(file)]
    shown = CliRunner().invoke(headwater, [*command, *options])
    assert (shown.exit_code, started) == (2, []), shown.output
    said = " ".join(shown.output.split())
    assert "in the place of SASL_PLAINTEXT://127.0.0." in said
    assert ("server.properties, line 2" if is_in_file else "HEADWATER_BROKER_LISTENERS") in said
    shown = CliRunner().invoke(headwater, command)
    assert [str(each) for each in started[0].listeners] == listeners.split(","), shown.output


def test_options_still_win_over_a_plain_listener_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[BrokerConfig] = []
    monkeypatch.setattr("headwater.broker.run.run", started.append)
    file = tmp_path / "server.properties"
    file.write_text("listeners=PLAINTEXT://127.0.0.1:9092\n")
    CliRunner().invoke(headwater, ["broker", "--config", str(file), "--port", "0"])
    assert [str(each) for each in started[0].listeners] == ["PLAINTEXT://127.0.0.1:0"]


def test_an_http_service(tmp_path: Path) -> None:
    open_to_all = ListenerConfig(host="0.0.0.0")
    with pytest.raises(Exception, match=r"on 0\.0\.0\.0, beyond this machine"):
        check_http_exposure(open_to_all, is_insecure=False)
    check_http_exposure(open_to_all, is_insecure=True)
    file = tmp_path / "file"
    required = ClientAuthentication.REQUIRED
    for fine in (
        ListenerConfig(),
        ListenerConfig(host="::1"),
        ListenerConfig(host="0.0.0.0", users_file=file),
        ListenerConfig(host="0.0.0.0", certificate_file=file, client_authentication=required),
    ):
        check_http_exposure(fine, is_insecure=False)
