"""The platform's ports: Kafka's and Confluent's by default, moved together."""

from __future__ import annotations

from headwater.processes.ports import bound

PORTS = {
    "broker": 9092,
    "registry": 8081,
    "rest": 8082,
    "monitor": 9308,
    "connect": 8083,
    "sql": 8088,
    "console": 9021,
}

STATUS_PORT = 9020
STATUS_HOST = "127.0.0.1"
"""Wherever the services listen, the platform tells its status to this machine only."""


class PortTakenError(Exception):
    """Something else listens where a service should."""


def check_free(name: str, host: str, port: int) -> None:
    """Raise PortTakenError if a service could not listen here; else it would fail later on."""
    try:
        bound(host, port).close()
    except OSError as failure:
        raise PortTakenError(
            f"port {port}, where the {name} should listen, cannot be had on {host} "
            f"({failure.strerror}). Stop what listens there, or move all ports, for example with "
            "--port-offset 10000"
        ) from None
