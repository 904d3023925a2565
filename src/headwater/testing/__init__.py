"""What users put in their own tests: a broker in this process, a pytest fixture, a topology driver.

    from headwater.testing import Broker

    with Broker() as broker:
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers})

The pytest fixture `kafka_broker` gives each test such a broker. `TopologyDriver` runs a stream
processing program without one, and `SqlDriver` SQL statements.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from headwater.testing.broker import Broker

if TYPE_CHECKING:
    from headwater.testing.sql.driver import SqlDriver
    from headwater.testing.topology_driver import TopologyDriver
    from headwater.testing.topology_failed import TopologyFailed

__all__ = ["Broker", "SqlDriver", "TopologyDriver", "TopologyFailed"]

_MODULES = {
    "SqlDriver": "headwater.testing.sql.driver",
    "TopologyDriver": "headwater.testing.topology_driver",
    "TopologyFailed": "headwater.testing.topology_failed",
}


def __getattr__(name: str) -> Any:
    # Imported when it is used: pytest loads this package, and most tests need no topology.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
