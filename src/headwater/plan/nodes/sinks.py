"""Where records go.

Any subclass of `Sink` is one: what the plan has to know of it are its abstract properties. How
Spark writes it is found by the node's type, see headwater/spark/sinks.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from headwater.plan.nodes.node import ChangelogMode, Node

if TYPE_CHECKING:
    from headwater.plan.expressions.expressions import Expression
    from headwater.plan.expressions.python_function import PythonFunction
    from headwater.plan.formats import Format


@dataclass(frozen=True, eq=False, kw_only=True)
class Sink(Node):
    """An end of the plan, with one parent."""

    @property
    @abstractmethod
    def summary(self) -> str:
        """The sink in a few words, for pictures."""

    @property
    @abstractmethod
    def place(self) -> str | None:
        """What it needs for itself, in words: no other sink may write there. None for nothing."""

    @property
    def only_adds(self) -> bool:
        """Whether nothing that it wrote can be replaced later."""
        return False

    @property
    def changelog(self) -> ChangelogMode:
        """What is written is what came."""
        return self.parents[0].changelog


@dataclass(frozen=True, eq=False, kw_only=True)
class TopicSink(Sink):
    """Writes records to a topic; an expression chooses it for each record."""

    topic: str | Expression
    key_format: Format
    value_format: Format
    internal: bool = False

    @property
    def summary(self) -> str:
        """The topic."""
        return f"to {self.topic}"

    @property
    def place(self) -> str | None:
        """Many may write to one topic."""
        return None


@dataclass(frozen=True, eq=False, kw_only=True)
class FileSink(Sink):
    """Appends records to files in a folder."""

    path: str
    format: str = "parquet"

    @property
    def summary(self) -> str:
        """Format and folder."""
        return f"{self.format} files in {self.path}"

    @property
    def place(self) -> str:
        """The folder, whose log belongs to one query."""
        parts = urlsplit(self.path)
        is_local = parts.scheme in ("", "file")
        folder = str(Path(parts.path).resolve()) if is_local else self.path.rstrip("/")
        return f"the folder {folder!r}"

    @property
    def only_adds(self) -> bool:
        """Files are never written again."""
        return True

    def accepts(self, mode: ChangelogMode, parent: int) -> bool:
        """Take records that stand by themselves."""
        del parent
        return mode is ChangelogMode.APPEND


@dataclass(frozen=True, eq=False, kw_only=True)
class StoreSink(TopicSink):
    """Writes a table to the topic that a named store follows, see headwater/stores.

    Where each of its batches ends is written to the topic `batches`.
    """

    store: str
    batches: str

    @property
    def summary(self) -> str:
        """The store."""
        return f"store {self.store}"

    @property
    def place(self) -> str:
        """The store, which is one table."""
        return f"the store {self.store!r}"

    def accepts(self, mode: ChangelogMode, parent: int) -> bool:
        """Take tables."""
        del parent
        return mode is ChangelogMode.UPSERT


@dataclass(frozen=True, eq=False, kw_only=True)
class PrintSink(Sink):
    """Writes records to standard output, each after the label."""

    label: str

    @property
    def summary(self) -> str:
        """Its name in Kafka Streams."""
        return "print"

    @property
    def place(self) -> str | None:
        """Standard output is everybody's."""
        return None


@dataclass(frozen=True, eq=False, kw_only=True)
class ForEachSink(Sink):
    """Calls a function for each record."""

    function: PythonFunction

    @property
    def summary(self) -> str:
        """The function."""
        return f"for_each {self.function.name}"

    @property
    def place(self) -> str | None:
        """A function may be called from anywhere."""
        return None
