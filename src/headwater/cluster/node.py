"""The nodes of a cluster: brokers, controllers, or one node that is both."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

BROKER = "broker"
CONTROLLER = "controller"

# Far from the brokers' ids, which count from 1, so that nobody mistakes one for the other.
FIRST_CONTROLLER = 101
MOST_BROKERS = FIRST_CONTROLLER - 1


@dataclass(frozen=True)
class NodeOptions:
    """What one node has of its own."""

    host: str = "127.0.0.1"
    """The address that it listens on."""
    port: int | None = None
    """Where clients connect to a broker, or brokers to a controller; None picks a free one."""
    controller_port: int | None = None
    """The second port of a node that is both."""
    rack: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    """Kafka's properties, on top of the cluster's."""
    prefix: Sequence[str] = ()
    """What its command starts with, such as `ip netns exec NAME`."""


@dataclass(frozen=True)
class Node:
    """A node with all that is needed to start it."""

    id: int
    roles: tuple[str, ...]
    host: str
    port: int
    controller_port: int | None = None
    rack: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    prefix: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What people call it: broker-1, controller-101."""
        return f"{BROKER if self.is_broker else CONTROLLER}-{self.id}"

    @property
    def is_broker(self) -> bool:
        """Whether it stores records and serves clients."""
        return BROKER in self.roles

    @property
    def is_controller(self) -> bool:
        """Whether it votes on the cluster's metadata."""
        return CONTROLLER in self.roles

    @property
    def quorum_port(self) -> int:
        """Where a controller is asked by other nodes."""
        return self.port if self.controller_port is None else self.controller_port


def roles(brokers: int, controllers: int | None) -> dict[int, tuple[str, ...]]:
    """Return the roles of each node: separate ones, or one combined node if that is all there is.

    >>> roles(1, None)
    {1: ('broker', 'controller')}
    >>> roles(2, 1)
    {1: ('broker',), 2: ('broker',), 101: ('controller',)}
    """
    if brokers == 1 and controllers is None:
        return {1: (BROKER, CONTROLLER)}
    last_controller = FIRST_CONTROLLER + (controllers or 1)
    return {
        **dict.fromkeys(range(1, brokers + 1), (BROKER,)),
        **dict.fromkeys(range(FIRST_CONTROLLER, last_controller), (CONTROLLER,)),
    }
