"""Counts words as they are spoken.

python -m examples.words
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING

import click
from examples.show import Record, show

if TYPE_CHECKING:
    from collections.abc import Iterator

LINES = (
    "Kafka Streams reads streams, and streams of streams",
    "a table is what a stream has come to",
    "every table has a stream, and every stream may be a table",
)


@click.command()
@click.option("--seconds", type=click.FloatRange(min=0), help="Stop by itself after so long.")
def main(seconds: float | None) -> None:
    """Count words until Ctrl-C."""
    show(
        Path(__file__).with_name("program.py"),
        inputs=("text-lines",),
        outputs=("word-counts",),
        then=spoken(),
        every_s=1.0,
        seconds=seconds,
    )


def spoken() -> Iterator[Record]:
    """Return lines, one after the other, for ever."""
    for line in itertools.cycle(LINES):
        yield "text-lines", "", line


if __name__ == "__main__":
    main()
