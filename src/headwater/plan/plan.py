"""A program as data: its sinks, from which every operator is reached, and its settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from headwater.clients import ClusterAccess
from headwater.plan.errors import PlanError
from headwater.plan.nodes import Node, Sink, TopicSource

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from headwater.clients import RegistryAccess
    from headwater.plan.fingerprint import Fingerprint

Guarantee = Literal["at_least_once", "exactly_once"]


@dataclass(frozen=True)
class Settings:
    """What a program needs around it.

    `cluster` and `registry` say where its topics and its schemas are, and as whom to connect to
    them; `spark` has settings for the session (`spark.*`).
    """

    cluster: ClusterAccess = field(default_factory=ClusterAccess)
    registry: RegistryAccess | None = None
    guarantee: Guarantee = "at_least_once"
    checkpoint_dir: Path | None = None
    spark: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """What a program does."""

    name: str
    sinks: tuple[Sink, ...]
    settings: Settings = Settings()

    def walk(self) -> Iterator[Node]:
        """Yield every operator once, inputs before what reads them."""
        seen: set[int] = set()
        for sink in self.sinks:
            yield from _walk(sink, seen)

    def sources(self) -> tuple[TopicSource, ...]:
        """Return the topics' readers."""
        return tuple(node for node in self.walk() if isinstance(node, TopicSource))

    def check(self) -> None:
        """Refuse a program that cannot run; expressions were checked when it was built."""
        if not self.sinks:
            raise PlanError(
                f"the app {self.name!r} writes nowhere: end a stream with .to(topic), "
                ".print() or .for_each(function)"
            )
        # Not at the top: they know what plans are.
        from headwater.plan.outputs import check_outputs
        from headwater.plan.topic_circles import check_circles

        _check_clients(self.settings.cluster.properties)
        check_circles(self)
        _check_ids(self)
        check_outputs(self)

    def fingerprint(self) -> Fingerprint:
        """Return what a checkpoint of this program depends on."""
        from headwater.plan.fingerprint import fingerprint_of

        return fingerprint_of(self)


def _walk(node: Node, seen: set[int]) -> Iterator[Node]:
    # A stack of iterators: programs may chain more operators than Python nests calls.
    if id(node) in seen:
        return
    seen.add(id(node))
    stack = [(node, iter(node.parents))]
    while stack:
        current, parents = stack[-1]
        for parent in parents:
            if id(parent) not in seen:
                seen.add(id(parent))
                stack.append((parent, iter(parent.parents)))
                break
        else:
            yield current
            stack.pop()


def _check_clients(kafka: Mapping[str, str]) -> None:
    """Refuse what would have to be the same for all clients, and is said elsewhere or not open."""
    for name in ("bootstrap.servers", "metadata.broker.list"):
        if name in kafka:
            raise PlanError(
                f"kafka= has {name}={kafka[name]}: say where the brokers are with "
                "App(bootstrap_servers=...) or --bootstrap-server, which all parts of a program use"
            )
    isolation = kafka.get("isolation.level", "read_committed")
    if isolation != "read_committed":
        raise PlanError(
            f"kafka= has isolation.level={isolation}: programs never see what a transaction took "
            "back, so leave it out"
        )


def _check_ids(plan: Plan) -> None:
    taken: dict[str, Node] = {}
    for node in plan.walk():
        for name in {node.id, node.name or node.id}:
            other = taken.setdefault(name, node)
            if other is not node:
                raise PlanError(
                    f"the name {name!r} is taken by the operator at {other.location}", node.location
                )
