"""A broker with several listeners, of which each has its own security."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.broker_process import BrokerProcess

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class SecuredBroker(BrokerProcess):
    """Listens in plain text and under the given names; `address` tells where.

    The plain listener comes last, so that all others are there when it is.
    """

    ready = re.compile(r"listening on 127\.0\.0\.1:(\d+) \(PLAINTEXT\)")

    def __init__(
        self, data_dir: Path, protocols: Mapping[str, str], properties: Mapping[str, str]
    ) -> None:
        super().__init__(data_dir, properties)
        self._protocols = dict(protocols)
        self._ports: dict[str, int] = {}

    def command_line(self) -> list[str]:
        names = [*self._protocols, "PLAINTEXT"]
        ports = {**self._ports, "PLAINTEXT": self.port}
        listeners = ",".join(f"{name}://127.0.0.1:{ports.get(name, 0)}" for name in names)
        pairs = {**self._protocols, "PLAINTEXT": "PLAINTEXT"}.items()
        given = {
            "listeners": listeners,
            "listener.security.protocol.map": ",".join(f"{name}:{p}" for name, p in pairs),
            "headwater.metrics.port": "0",
            **self.properties,
        }
        line = [*self.command, "broker", "--data", str(self.data_dir)]
        for name, value in given.items():
            line += ["--property", f"{name}={value}"]
        return line

    def listens(self, said: re.Match[str]) -> None:
        super().listens(said)
        found = re.findall(r"listening on 127\.0\.0\.1:(\d+) \((\w+)\)", self.text)
        self._ports = {name: int(port) for port, name in found}

    def port_of(self, listener: str) -> int:
        return self._ports[listener]

    def address(self, listener: str) -> str:
        return f"127.0.0.1:{self._ports[listener]}"
