"""Refuses a program that cannot run as a whole; expressions were checked when it was built."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.plan.errors import PlanError
from headwater.plan.splitting.outputs import check_outputs
from headwater.plan.splitting.topic_circles import check_circles

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.plan.nodes import Operator
    from headwater.plan.plan import Plan


def check_plan(plan: Plan) -> None:
    """Raise PlanError, with the line, for what cannot run."""
    if not plan.sinks:
        raise PlanError(
            f"the app {plan.name!r} writes nowhere: end a stream with .to(topic), "
            ".print() or .for_each(function)"
        )
    _check_clients(plan.settings.cluster.properties)
    check_circles(plan)
    _check_ids(plan)
    _check_changelogs(plan)
    check_outputs(plan)


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
    taken: dict[str, Operator] = {}
    for node in plan.walk():
        for name in {node.id, node.name or node.id}:
            other = taken.setdefault(name, node)
            if other is not node:
                raise PlanError(
                    f"the name {name!r} is taken by the operator at {other.location}", node.location
                )


def _check_changelogs(plan: Plan) -> None:
    for node in plan.walk():
        for index, parent in enumerate(node.parents):
            if not node.accepts(parent.changelog, index):
                raise PlanError(
                    f"{node.id} does not take the records of {parent.id} (at {parent.location}), "
                    f"which are in the changelog mode {parent.changelog}",
                    node.location,
                )
