"""What a program's failure is to its tests."""

from __future__ import annotations


class TopologyFailed(Exception):  # noqa: N818 - what became of it, as JobFailed says it
    """The program failed on a record; the message says why."""
