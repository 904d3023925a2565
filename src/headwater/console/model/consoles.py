"""All clusters that one console shows, each with threads of its own: a hung one takes no others."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.console.model.console import Console
from headwater.console.model.records.questions import ConsoleError
from headwater.console.model.topics import is_under_replicated
from headwater.console.model.tour import read_tour

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from headwater.console.config import ConsoleConfig
    from headwater.console.model.cluster import Cluster

_GLANCE_WITHIN_S = 2.0


@dataclass(frozen=True)
class Glance:
    """A cluster in a list; the figures of one that does not answer are not known."""

    name: str
    place: str
    """What addresses of its pages begin with."""
    bootstrap_servers: str
    is_read_only: bool
    problem: str = ""
    brokers: int | None = None
    topics: int | None = None
    partitions: int | None = None
    groups: int | None = None
    leaderless: int | None = None
    under_replicated: int | None = None


class Consoles:
    """The first one is that of the settings without a prefix; its pages have none either."""

    def __init__(self, config: ConsoleConfig) -> None:
        """Take them; raises ConfigError."""
        self.audit = config.audit_trail()
        tour = None if config.tour_file is None else read_tour(config.tour_file)
        self._all = {
            each.name: Console(
                each,
                self.audit,
                tour if each is config.cluster else None,
                is_alone=not config.others,
            )
            for each in config.clusters
        }
        self.first = self._all[config.cluster.name]

    def __iter__(self) -> Iterator[Console]:
        return iter(self._all.values())

    def __len__(self) -> int:
        return len(self._all)

    def named(self, name: str) -> Console | None:
        """Return one of them, by the name that stands in its pages' addresses."""
        found = self._all.get(name)
        return None if found is self.first else found

    def place(self, console: Console) -> str:
        """Return what addresses of a cluster's pages begin with."""
        return "" if console is self.first else f"/clusters/{console.cluster.name}"

    async def glances(self) -> Sequence[Glance]:
        """Look at all of them at once; those that are silent keep nobody waiting."""
        return await asyncio.gather(*(self._glance(each) for each in self))

    async def _glance(self, console: Console) -> Glance:
        cluster = console.cluster
        glance = Glance(
            cluster.name,
            self.place(console),
            cluster.connection.bootstrap_servers,
            console.is_read_only,
        )
        try:
            return await asyncio.wait_for(console.ask(_seen, cluster, glance), _GLANCE_WITHIN_S)
        except TimeoutError:
            problem = f"It has not answered within {_GLANCE_WITHIN_S:g} s."
        except ConsoleError as failure:
            problem = str(failure)
        return Glance(
            glance.name, glance.place, glance.bootstrap_servers, glance.is_read_only, problem
        )

    def stop(self) -> None:
        """Let go of all of them."""
        for console in self:
            console.stop()
        self.audit.close()


def _seen(cluster: Cluster, glance: Glance) -> Glance:
    state = cluster.look().state
    partitions = [each for topic in state.topics for each in topic.partitions]
    return Glance(
        glance.name,
        glance.place,
        glance.bootstrap_servers,
        glance.is_read_only,
        "",
        len(state.brokers),
        len(state.topics),
        len(partitions),
        len(state.groups),
        sum(each.leader < 0 for each in partitions),
        sum(map(is_under_replicated, partitions)),
    )
