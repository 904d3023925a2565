"""With which guarantee a checkpoint was written, kept beside it, and since which batch."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.spark.hadoop_path import HadoopPath, write_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from headwater.plan.plan import Guarantee

GUARANTEE_FILE = "guarantee.json"


@dataclass(frozen=True)
class KeptGuarantee:
    """The guarantee, and the first batch of each query that had begun with another one."""

    guarantee: Guarantee
    since: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def read(cls, checkpoint: Path | HadoopPath) -> KeptGuarantee | None:
        """Return what `write` wrote, if it did."""
        path = checkpoint / GUARANTEE_FILE
        return cls(**json.loads(path.read_text("utf-8"))) if path.exists() else None

    def write(self, checkpoint: Path | HadoopPath) -> None:
        """Keep it."""
        text = json.dumps({"guarantee": self.guarantee, "since": dict(self.since)}, indent=2)
        write_file(checkpoint / GUARANTEE_FILE, text)

    def followed_by(self, guarantee: Guarantee, queries: Path | HadoopPath) -> KeptGuarantee:
        """Return what holds from now on, where the queries' folders are as they are."""
        if guarantee == self.guarantee:
            return self
        since = {path.name: next_batch(path) for path in queries.glob("*")}
        return KeptGuarantee(guarantee, since)


def next_batch(query: Path | HadoopPath) -> int:
    """Return the number of the first batch that Spark has not noted as finished."""
    numbers = [int(path.name) for path in query.glob("commits/*") if path.name.isdigit()]
    return max(numbers, default=-1) + 1
