"""Limits on connections, also after they were changed."""

from __future__ import annotations

from headwater.broker.config import BrokerConfig
from headwater.broker.network.connection_limits import ConnectionLimits
from headwater.broker.quotas.client_quotas import ClientQuotas


def limits(**settings: int | str) -> tuple[BrokerConfig, ConnectionLimits]:
    names = {name.replace("_", "."): str(value) for name, value in settings.items()}
    config = BrokerConfig({"listeners": "PLAINTEXT://127.0.0.1:0", **names})
    return config, ConnectionLimits(config, ClientQuotas(config))


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


def test_an_address_above_its_rate_is_held_off_and_others_are_not() -> None:
    config = BrokerConfig({"listeners": "PLAINTEXT://127.0.0.1:0"})
    quotas = ClientQuotas(config)
    admission = ConnectionLimits(config, quotas)
    assert admission.delay_ms("10.0.0.1") == 0
    # One connection a second is ten in the windows that a rate is measured over.
    quotas.update({(("ip", "10.0.0.1"),): {"connection_creation_rate": 1.0}})
    delays = [admission.delay_ms("10.0.0.1") for _ in range(30)]
    assert delays[:10] == [0] * 10
    assert any(delays)
    assert max(delays) <= 1000
    assert admission.delay_ms("10.0.0.2") == 0


def test_an_address_is_the_same_however_it_is_written() -> None:
    config = BrokerConfig({"listeners": "PLAINTEXT://127.0.0.1:0"})
    quotas = ClientQuotas(config)
    admission = ConnectionLimits(config, quotas)
    quotas.update({(("ip", "0:0:0:0:0:0:0:1"),): {"connection_creation_rate": 1.0}})
    assert any(admission.delay_ms("::1") for _ in range(30))
