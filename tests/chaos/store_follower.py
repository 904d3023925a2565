"""Follows a table until it is killed; run as `python store_follower.py SERVERS TOPIC DIRECTORY`."""

from __future__ import annotations

import sys
import threading
from dataclasses import replace
from pathlib import Path

from headwater.clients import ClusterAccess
from headwater.plan.formats import Format
from headwater.plan.schemas.types import BIGINT, STRING, Struct
from headwater.stores import FollowedTable, Side, open_store


def table_of(topic: str) -> FollowedTable:
    """Return the table that is followed, with the ends of its batches."""
    value = Side(Format("json"), Struct.of(count=BIGINT))
    table = FollowedTable("counts", topic, Side(Format("string"), STRING), value)
    return replace(table, batches=f"{topic}-batches")


if __name__ == "__main__":
    servers, topic, directory = sys.argv[1:]
    open_store(table_of(topic), ClusterAccess(servers), Path(directory))
    print("following", flush=True)
    threading.Event().wait()
