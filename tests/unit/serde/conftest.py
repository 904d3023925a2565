"""Fixtures for the tests of serialisers: a tiny registry and a client of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.unit.serde.tiny_registry import TinyRegistry

from headwater.serde import SchemaRegistryClient

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def server() -> Iterator[TinyRegistry]:
    with TinyRegistry() as running:
        yield running


@pytest.fixture
def registry(server: TinyRegistry) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient(server.url) as client:
        yield client
