"""The pytest fixture `kafka_broker`; imports nothing heavy, since every pytest run loads it."""

from __future__ import annotations
