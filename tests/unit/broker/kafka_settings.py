"""What a real Apache Kafka says of its settings, taken from its own definitions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_KAFKA: dict[str, dict[str, Any]] = json.loads(
    Path(__file__).with_name("kafka_settings.json").read_text()
)
TOPIC = _KAFKA["topic"]
BROKER = _KAFKA["broker"]
DYNAMIC_ONLY = _KAFKA["dynamic_only"]


def probes(accepts: str | None) -> list[str]:
    """Values at and around the limits of a numeric setting, as Kafka describes them."""
    if accepts is None or not accepts.startswith("["):
        return []
    limits = accepts.split("]")[0].strip("[").split(",")
    numbers = [limit for limit in limits if limit.lstrip("-").isdigit()]
    return [str(int(number) + step) for number in numbers for step in (-1, 0, 1)]


def kafka_accepts(accepts: str, value: int) -> bool:
    """Whether Kafka takes a number, by its own description of the limits."""
    limits = accepts.split("]")[0].strip("[").split(",")
    low = float(limits[0])
    high = float(limits[2]) if len(limits) == 3 else None
    in_range = value >= low and (high is None or value <= high)
    return in_range or (accepts.endswith("or -1") and value == -1)
