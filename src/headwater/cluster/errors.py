"""What can go wrong with a cluster."""

from __future__ import annotations


class ClusterError(Exception):
    """A cluster or one of its nodes cannot do what was asked; the message says why."""
