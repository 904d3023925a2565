"""How a cluster may change between two starts: brokers are added; empty ones may be left out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from headwater.cluster.errors import ClusterError
from headwater.cluster.node import BROKER, MOST_BROKERS, roles

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.cluster.directory import ClusterDirectory
    from headwater.cluster.node import Node

# The cluster's own metadata is on every node, whatever else is.
_METADATA = "__cluster_metadata-0"
_PARTITION = re.compile(r".+-\d+")


def wanted_roles(
    files: ClusterDirectory, brokers: int | None, controllers: int | None
) -> dict[int, tuple[str, ...]]:
    """Return the roles of all nodes, those that exist and new brokers; None is what there is.

    Raises ClusterError for what a cluster with data cannot become.
    """
    if brokers is not None and not 1 <= brokers <= MOST_BROKERS:
        raise ClusterError(f"{brokers} brokers cannot be had; 1 to {MOST_BROKERS} can")
    if not files.exists:
        return roles(brokers or 1, controllers)
    _, nodes = files.load()
    _check_controllers(files.path, nodes, controllers)
    before = {node.id: node.roles for node in nodes}
    count = brokers or sum(node.is_broker for node in nodes)
    for node in nodes:
        if node.is_broker and node.id > count:
            _check_empty(files, node, count)
    kept = {number: kind for number, kind in before.items() if BROKER in kind and number <= count}
    added = {number: (BROKER,) for number in range(1, count + 1) if number not in before}
    others = {number: kind for number, kind in before.items() if BROKER not in kind}
    return {**kept, **added, **others}


def _check_controllers(path: Path, nodes: tuple[Node, ...], wanted: int | None) -> None:
    controllers = [node for node in nodes if node.is_controller]
    is_combined = controllers[0].is_broker
    if wanted is None or (wanted == len(controllers) and not is_combined):
        return
    there = ", ".join(node.name for node in controllers)
    raise ClusterError(
        f"the controllers of the cluster in {path} were chosen when it was made: {there}. "
        f"They cannot become {wanted}; ask for "
        + ("none" if is_combined else f"{len(controllers)}")
        + ", or make another cluster in another directory"
    )


def _check_empty(files: ClusterDirectory, node: Node, count: int) -> None:
    data = files.of(node).data
    partitions = sorted(
        each.name
        for each in (data.iterdir() if data.exists() else ())
        if each.is_dir() and _PARTITION.fullmatch(each.name) and each.name != _METADATA
    )
    if not partitions:
        return
    left = ",".join(map(str, range(1, count + 1)))
    raise ClusterError(
        f"{node.name} of the cluster in {files.path} has partitions, such as {partitions[0]}. "
        "Start it with all of its brokers, move the partitions away "
        f"(headwater topics reassign TOPIC... --brokers {left}; internal topics, too), and ask for "
        f"{count} brokers again when they are gone, which takes a minute"
    )
