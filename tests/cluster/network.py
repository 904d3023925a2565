"""A network of this machine's own, with cables that can be cut: Linux network namespaces.

Each host is a namespace on one bridge, to which the tests themselves belong as well. Root and
`ip` (Debian's iproute2) are needed. All names hold the process's number, so that what a killed run
left behind is found and removed by the next one.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from errno import ECONNREFUSED
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_PREFIX = "hw"
_OURS = re.compile(rf"\b{_PREFIX}(\d+)(?:br|c\d|-)")
_CARD = "eth0"
# Nobody's: what is sent there is lost without a word, as in a cable that was cut.
_NOWHERE = "02:00:00:00:00:00"


class NetworkRefusedError(Exception):
    """This machine does not let us have namespaces, or no traffic between them."""


class Network:
    """Hosts that reach each other until a link is cut."""

    def __init__(self, hosts: Sequence[str]) -> None:
        self._hosts = tuple(hosts)
        self._cut: set[tuple[str, str]] = set()
        self._bridge = f"{_PREFIX}{os.getpid()}br"
        # 198.18.0.0/15 is kept free everywhere for tests of networks (RFC 2544).
        self._subnet = f"198.18.{os.getpid() % 256}"

    def open(self) -> None:
        """Lay the cables; raises NetworkRefusedError where that is not allowed."""
        try:
            remove_leftovers()
            self._build()
            self._check_traffic()
        except BaseException:
            self.close()
            raise

    def address(self, host: str) -> str:
        """Where a host is reached."""
        return f"{self._subnet}.{self._hosts.index(host) + 11}"

    def prefix(self, host: str) -> tuple[str, ...]:
        """What a command starts with to run on a host."""
        return ("ip", "netns", "exec", self._namespace(host))

    def cut(self, host: str, *others: str) -> None:
        """Let nothing pass between a host and others, in both directions, without a word."""
        for other in others:
            self._cut.add((host, other))
            for here, there in ((host, other), (other, host)):
                lost = ("lladdr", _NOWHERE, "dev", _CARD, "nud", "permanent")
                self._on(here, "neigh", "replace", self.address(there), *lost)

    def isolate(self, host: str) -> None:
        """Cut a host off from all others; only the tests still reach it."""
        self.cut(host, *(other for other in self._hosts if other != host))

    def heal(self) -> None:
        """Mend all that was cut."""
        for host, other in self._cut:
            for here, there in ((host, other), (other, host)):
                self._on(here, "neigh", "delete", self.address(there), "dev", _CARD)
        self._cut.clear()

    def close(self) -> None:
        """Remove everything; what a namespace had goes with it."""
        _remove(os.getpid())

    def _build(self) -> None:
        _ip("link", "add", self._bridge, "type", "bridge")
        _ip("address", "add", f"{self._subnet}.1/24", "dev", self._bridge)
        _ip("link", "set", self._bridge, "up")
        for number, host in enumerate(self._hosts):
            cable = f"{_PREFIX}{os.getpid()}c{number}"
            name = self._namespace(host)
            _ip("netns", "add", name)
            _ip("link", "add", cable, "type", "veth", "peer", "name", _CARD, "netns", name)
            _ip("link", "set", cable, "master", self._bridge, "up")
            self._on(host, "link", "set", "lo", "up")
            self._on(host, "address", "add", f"{self.address(host)}/24", "dev", _CARD)
            self._on(host, "link", "set", _CARD, "up")

    def _check_traffic(self) -> None:
        # A firewall may look into bridges too. Where nobody listens, an answer is a refusal.
        here, there = self._hosts[:2]
        knock = f"import socket; print(socket.socket().connect_ex(({self.address(there)!r}, 9)))"
        command = [*self.prefix(here), "timeout", "30", sys.executable, "-c", knock]
        answer = subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout
        if answer.strip() != b"%d" % ECONNREFUSED:
            raise NetworkRefusedError("nothing passes between two namespaces on a bridge")

    def _namespace(self, host: str) -> str:
        return f"{_PREFIX}{os.getpid()}-{host}"

    def _on(self, host: str, *arguments: str) -> None:
        _ip("-netns", self._namespace(host), *arguments)


def remove_leftovers() -> None:
    """Remove what runs that were killed could not."""
    for number in {int(number) for number in _OURS.findall(f"{_namespaces()} {_links()}")}:
        if not Path(f"/proc/{number}").exists():
            _remove(number)


def _remove(number: int) -> None:
    # Cables first: the kernel takes its time to take a namespace apart.
    for link in _links():
        if link.startswith((f"{_PREFIX}{number}c", f"{_PREFIX}{number}br")):
            _ip("link", "delete", link)
    for namespace in _namespaces():
        if namespace.startswith(f"{_PREFIX}{number}-"):
            _ip("netns", "delete", namespace)


def _namespaces() -> list[str]:
    return [line.split()[0] for line in _ip("netns", "list").splitlines()]


def _links() -> list[str]:
    """The links of this machine, without the "@if2" that tells where a cable ends."""
    lines = _ip("-oneline", "link", "show").splitlines()
    return [line.split(": ")[1].partition("@")[0] for line in lines]


def _ip(*arguments: str) -> str:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NetworkRefusedError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout
