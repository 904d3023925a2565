"""Free ports stay ours while services come and go."""

from __future__ import annotations

import socket
import sys

import pytest

from headwater.processes.ports import FreePorts, is_free, reachable


def test_free_ports_can_be_listened_on_again_and_again() -> None:
    ports = FreePorts("127.0.0.1")
    picked = {ports.pick() for _ in range(20)}
    assert len(picked) == 20
    for port in picked:
        for _ in range(2):
            with socket.create_server(("127.0.0.1", port)) as server:
                socket.create_connection(server.getsockname()).close()
                server.accept()[0].close()
    ports.close()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a port cannot be kept for a service")
def test_nobody_else_is_given_a_free_port() -> None:
    ports = FreePorts("127.0.0.1")
    picked = {ports.pick() for _ in range(50)}
    others = [socket.create_server(("127.0.0.1", 0)) for _ in range(500)]
    try:
        assert not picked & {other.getsockname()[1] for other in others}
    finally:
        for other in others:
            other.close()
        ports.close()


def test_a_port_is_free_until_somebody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert not is_free(port)
    assert is_free(port)


def test_where_a_service_is_reached() -> None:
    assert reachable("0.0.0.0") == "127.0.0.1"
    assert reachable("::") == "::1"
    assert reachable("127.0.0.2") == "127.0.0.2"
