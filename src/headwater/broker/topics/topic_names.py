"""Which names a topic may have, and the ids that Kafka gives to topics and clusters."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from uuid import uuid4

MAX_NAME_LENGTH = 249

CONSUMER_OFFSETS = "__consumer_offsets"
TRANSACTION_STATE = "__transaction_state"
SHARE_GROUP_STATE = "__share_group_state"
INTERNAL_TOPICS = frozenset({CONSUMER_OFFSETS, TRANSACTION_STATE, SHARE_GROUP_STATE})

_LEGAL = re.compile(r"[a-zA-Z0-9._-]+")


def name_error(name: str) -> str | None:
    """Say why a topic may not have this name; None if it may.

    >>> name_error("orders/2024")
    "the topic name 'orders/2024' has a character other than a-z, A-Z, 0-9, '.', '_' and '-'"
    """
    if not name:
        return "the topic name is empty"
    if name in (".", ".."):
        return f"the topic name may not be {name!r}, which means a directory"
    if len(name) > MAX_NAME_LENGTH:
        return f"the topic name has {len(name)} characters, and {MAX_NAME_LENGTH} are allowed"
    if _LEGAL.fullmatch(name) is None:
        return f"the topic name {name!r} has a character other than a-z, A-Z, 0-9, '.', '_' and '-'"
    return None


def collision_key(name: str) -> str:
    """Return the name under which two topics would have the same metrics: `.` and `_` are one."""
    return name.replace(".", "_")


def new_id() -> bytes:
    """Make a random id; never one whose text starts with a dash, which command lines misread."""
    while True:
        topic_id = uuid4().bytes
        if not id_text(topic_id).startswith("-"):
            return topic_id


def id_text(topic_id: bytes) -> str:
    """Write an id as Kafka prints it: URL-safe base64 without padding."""
    return urlsafe_b64encode(topic_id).rstrip(b"=").decode("ascii")


def parse_id(text: str) -> bytes:
    """Read an id that `id_text` wrote; raises ValueError for anything else."""
    topic_id = urlsafe_b64decode(text + "==")
    if len(topic_id) != 16:
        raise ValueError(f"{text!r} is not an id: it has {len(topic_id)} bytes and not 16")
    return topic_id
