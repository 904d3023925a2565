"""What the worker's handlers work with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headwater.connect.worker.config import WorkerConfig
    from headwater.connect.worker.connector_offsets import OffsetsOfConnectors
    from headwater.connect.worker.connectors import Connectors


@dataclass
class ConnectService:
    """Connectors, their offsets, and the cluster's id."""

    config: WorkerConfig
    connectors: Connectors
    offsets: OffsetsOfConnectors
    cluster_id: str = ""
