"""Headwater: the whole event-streaming platform in one Python install."""

__version__ = "0.1.0"

__all__ = ["__version__"]
