"""RegexRouter: the topic's name, replaced where it matches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from headwater.config import ConfigType
from headwater.connect.data.sql_text import matches, text
from headwater.connect.transforms.settings import (
    JAVA_REGEX,
    PACKAGE,
    given_text,
    required,
    settings,
)
from headwater.connect.transforms.transform import Step

if TYPE_CHECKING:
    from headwater.config import Definitions, Values
    from headwater.connect.data.shape import Shape


@dataclass(frozen=True)
class RegexRouter:
    """Names the topic anew where its whole name matches."""

    regex: str
    replacement: str

    class_names: ClassVar[tuple[str, ...]] = (f"{PACKAGE}.RegexRouter",)
    doc: ClassVar[str] = "Renames the topic where a Java regular expression matches all its name."
    definitions: ClassVar[Definitions] = settings(
        required("regex", ConfigType.STRING, "What matches the topic's name.", JAVA_REGEX),
        required("replacement", ConfigType.STRING, "The new name, with $1 for the first group."),
    )

    @classmethod
    def configured(cls, class_name: str, values: Values) -> Self:
        """Take the expression and the replacement."""
        del class_name
        return cls(given_text(values, "regex"), given_text(values, "replacement"))

    def compile(self, shape: Shape) -> tuple[Step, Shape]:
        """Return the new name."""
        replaced = first_replaced("topic", self.regex, self.replacement)
        topic = f"if({matches('topic', self.regex)}, {replaced}, topic)"
        return Step({"topic": topic}), shape


def first_replaced(value: str, regex: str, replacement: str) -> str:
    """Return a text that matches with its first match replaced.

    That match starts where the text does, as all of it matches; so no second one is found.
    """
    first = rf"\A(?:{regex})"
    return f"regexp_replace({value}, {text(first)}, {text(replacement)})"
