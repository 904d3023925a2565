"""The platform's ports: taken ones are named."""

from __future__ import annotations

import socket

import pytest

from headwater.up.ports import PortTakenError, check_free


def test_a_taken_port_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(
            PortTakenError, match=rf"port {port}, where the broker .* --port-offset"
        ):
            check_free("broker", "127.0.0.1", port)
    check_free("broker", "127.0.0.1", port)


def test_an_address_that_is_not_ours() -> None:
    with pytest.raises(PortTakenError, match="Cannot assign requested address"):
        check_free("broker", "192.0.2.1", 9092)
