"""Where an MQTT broker is."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlsplit

_PORTS = {"tcp": 1883, "mqtt": 1883, "ssl": 8883, "tls": 8883, "mqtts": 8883}


class Server(NamedTuple):
    """One MQTT broker."""

    host: str
    port: int
    is_encrypted: bool


def server_of(uri: str) -> Server:
    """Read an address; raises ValueError, which says what one looks like.

    >>> server_of("tcp://localhost")
    Server(host='localhost', port=1883, is_encrypted=False)
    >>> server_of("ssl://mqtt.example.org:8884").is_encrypted
    True
    >>> server_of("localhost")
    Traceback (most recent call last):
    ...
    ValueError: localhost is no address of an MQTT broker, such as tcp://localhost:1883
    """
    try:
        parts = urlsplit(uri)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in _PORTS or not parts.hostname:
        raise ValueError(f"{uri} is no address of an MQTT broker, such as tcp://localhost:1883")
    usual = _PORTS[parts.scheme]
    return Server(parts.hostname, usual if port is None else port, usual == _PORTS["ssl"])
