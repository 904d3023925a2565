"""Says whose data directory it is: Kafka's `meta.properties`, written for a new directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.broker.topics.topic_names import id_text, new_id
from headwater.log.checkpoint import (
    META_PROPERTIES,
    MetaProperties,
    read_meta_properties,
    write_meta_properties,
)

if TYPE_CHECKING:
    from pathlib import Path


class WrongDirectoryError(Exception):
    """The data directory belongs to somebody else; the text says to whom and what to do."""


def claim(directory: Path, node_id: int) -> MetaProperties:
    """Return whose directory this is; a new one is given to this node and a new cluster."""
    path = directory / META_PROPERTIES
    found = read_meta_properties(path)
    if found is None:
        found = MetaProperties(id_text(new_id()), node_id, id_text(new_id()))
        write_meta_properties(path, found)
    if found.node_id != node_id:
        raise WrongDirectoryError(
            f"{directory} belongs to node {found.node_id}, and this is node {node_id};"
            f" set node.id={found.node_id} or use another directory"
        )
    return found
