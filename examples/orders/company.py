"""All services of the company, each in a process of its own, started again when it ends."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from examples.orders.emails import EMAILS
from examples.orders.program import DELIVERIES, ORDERS, OUTCOMES, VALIDATIONS

from headwater.processes.ports import FreePorts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from examples.stage import Program, Stage

PROGRAM = Path(__file__).with_name("program.py")


class Company:
    """The orders service, the checks with the aggregator, the e-mails and the search."""

    def __init__(self, platform: Stage) -> None:
        platform.create_topics(ORDERS, DELIVERIES, VALIDATIONS, OUTCOMES, EMAILS)
        self._ports = FreePorts("127.0.0.1")
        orders, search = str(self._ports.pick()), str(self._ports.pick())
        index = str(platform.data / "orders.db")
        self.orders_url = f"http://127.0.0.1:{orders}/orders"
        self.search_url = f"http://127.0.0.1:{search}/orders"
        self._starts: dict[str, Callable[[], Program]] = {
            "orders": lambda: platform.start("examples.orders.service", "--port", orders),
            "checks": lambda: platform.program(PROGRAM),
            "emails": lambda: platform.start("examples.orders.emails"),
            "search": lambda: platform.start(
                "examples.orders.search", "--port", search, "--index", index
            ),
        }
        self.running = {name: start() for name, start in self._starts.items()}

    def keep_running(self) -> Iterator[str]:
        """Start those again that have ended; gives their names."""
        for name, service in self.running.items():
            if not service.child.running:
                self.running[name] = self._starts[name]()
                yield name

    def close(self) -> None:
        """End all of them."""
        for service in self.running.values():
            service.end()
        self._ports.close()
