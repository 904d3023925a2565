"""What makes a service of the platform, and what the platform has to know before it is made."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headwater.up.platform import Platform
    from headwater.up.service import Service

HEADWATER = (sys.executable, "-P", "-m", "headwater")
"""What a service's command starts with, unless it is another program."""


@dataclass(frozen=True)
class ServiceFactory:
    """A service under the name by which it is asked for, set and shown."""

    name: str
    make: Callable[[Platform], Sequence[Service]]
    """Returns its processes; one is usual."""
    needs: tuple[str, ...] = ()
    """Services without which it is of no use: they are run as well, and started first."""
    is_usual: bool = True
    """Whether it is run when nobody says which services to run."""
    is_for_all: bool = False
    """Whether all users of a secured platform are let in, and not its admin alone: what lets them
    do with its own rights what they may not do with theirs must not be."""
    registry_prefix: str | None = None
    """What its settings of a registry's client begin with, if it has such."""


def join(host: str, port: int) -> str:
    """Return an address.

    >>> join("::1", 9092)
    '[::1]:9092'
    """
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
