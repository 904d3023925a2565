"""Limits on connections, also after they were changed."""

from __future__ import annotations

from headwater.broker.config import BrokerConfig
from headwater.broker.connection_limits import ConnectionLimits


def limits(**settings: int | str) -> tuple[BrokerConfig, ConnectionLimits]:
    names = {name.replace("_", "."): str(value) for name, value in settings.items()}
    config = BrokerConfig({"listeners": "PLAINTEXT://127.0.0.1:0", **names})
    return config, ConnectionLimits(config)


def test_the_total_is_limited_and_a_closed_connection_makes_room() -> None:
    _, admission = limits(max_connections=2)
    assert admission.admit("10.0.0.1") is None
    assert admission.admit("10.0.0.2") is None
    assert "max.connections" in (admission.admit("10.0.0.3") or "")
    admission.release("10.0.0.1")
    assert admission.admit("10.0.0.3") is None


def test_one_address_is_limited_and_an_override_wins() -> None:
    _, admission = limits(
        max_connections_per_ip=1, max_connections_per_ip_overrides="10.0.0.9:2, ::1:0"
    )
    assert admission.admit("10.0.0.1") is None
    assert "max.connections.per.ip" in (admission.admit("10.0.0.1") or "")
    assert [admission.admit("10.0.0.9") is None for _ in range(3)] == [True, True, False]
    assert admission.admit("::1") is not None


def test_a_change_at_run_time_counts_at_once() -> None:
    config, admission = limits()
    assert admission.admit("10.0.0.1") is None
    config.set_dynamic({"max.connections.per.ip": "1"}, {})
    assert admission.admit("10.0.0.1") is not None
    config.set_dynamic({"max.connections.per.ip.overrides": "10.0.0.1:2"}, {})
    assert admission.admit("10.0.0.1") is None
