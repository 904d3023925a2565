"""What goes wrong with state in a topic; what a service tells its own clients is up to it."""

from __future__ import annotations


class TopicStateError(Exception):
    """Kafka did not take or give what it should have; the message says what."""


class TopicError(TopicStateError):
    """The topic is not fit for its purpose on this cluster; the message says what to do."""


class StateTimeoutError(TopicStateError):
    """Kafka did not answer in time."""


class RecordTooLargeError(TopicStateError):
    """The topic does not take a record of this size; nothing of it was written."""

    def __init__(self, size: int, topic: str) -> None:
        super().__init__(
            f"a record of {size} bytes is more than the topic {topic} takes "
            "(its setting max.message.bytes)"
        )
        self.size = size
        self.topic = topic


class NotLeaderError(TopicStateError):
    """This instance does not lead, or no longer; somebody else has to be asked."""


class InvalidRecordError(ValueError):
    """A record of the topic is none of the service's; the message says why."""
