"""Client properties files, as Kafka's tools take them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.client_settings import InvalidPropertiesError, to_librdkafka

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "InvalidPropertiesError",
    "read_client_properties",
    "read_properties",
    "to_librdkafka",
]


def read_client_properties(path: Path) -> dict[str, str]:
    """Return the librdkafka settings that a Java client's properties file asks for."""
    return to_librdkafka(read_properties(path))


def read_properties(path: Path) -> dict[str, str]:
    """Return what is in a properties file, as it is there."""
    from headwater.config.properties import parse_properties

    return parse_properties(path.read_text("utf-8"))
