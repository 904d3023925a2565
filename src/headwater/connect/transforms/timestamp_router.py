"""TimestampRouter: the topic's name with the record's time in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from headwater.config import ConfigDef, ConfigType, Importance
from headwater.connect.data.sql_text import text
from headwater.connect.transforms.date_patterns import DATE_PATTERN
from headwater.connect.transforms.settings import PACKAGE, given_text, settings
from headwater.connect.transforms.transform import Step

if TYPE_CHECKING:
    from headwater.config import Definitions, Values
    from headwater.connect.data.shape import Shape


@dataclass(frozen=True)
class TimestampRouter:
    """Names the topic after the one it was, and the record's timestamp."""

    topic_format: str
    timestamp_format: str

    class_names: ClassVar[tuple[str, ...]] = (f"{PACKAGE}.TimestampRouter",)
    doc: ClassVar[str] = "Puts the record's timestamp into the name of its topic."
    definitions: ClassVar[Definitions] = settings(
        ConfigDef(
            "topic.format",
            ConfigType.STRING,
            "${topic}-${timestamp}",
            "The new name, where ${topic} and ${timestamp} stand for both.",
            importance=Importance.HIGH,
        ),
        ConfigDef(
            "timestamp.format",
            ConfigType.STRING,
            "yyyyMMdd",
            "The pattern of the timestamp, as Java's SimpleDateFormat has them, in UTC.",
            DATE_PATTERN,
            importance=Importance.HIGH,
        ),
    )

    @classmethod
    def configured(cls, class_name: str, values: Values) -> Self:
        """Take both patterns."""
        del class_name
        return cls(given_text(values, "topic.format"), given_text(values, "timestamp.format"))

    def compile(self, shape: Shape) -> tuple[Step, Shape]:
        """Return the new name; a record without a timestamp fails."""
        moment = f"date_format(timestamp, {text(self.timestamp_format)})"
        topic = f"replace({text(self.topic_format)}, {text('${topic}')}, topic)"
        topic = f"replace({topic}, {text('${timestamp}')}, {moment})"
        failed = "if(timestamp is null, concat('Timestamp missing on record of ', topic), null)"
        return Step({"topic": topic}, failed=failed), shape
