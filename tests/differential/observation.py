"""Turns what a client saw into plain data that two brokers can be compared by."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import re
import uuid
from typing import TYPE_CHECKING, Any

from confluent_kafka import KafkaError, KafkaException
from kio.schema.errors import ErrorCode
from tests.integration.record_batches import Message, records_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.differential.engine import Engine

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SHORT_UUID = re.compile(r"(?<![\w-])[\w-]{22}(?![\w-])")
_LEFT_OUT = ("throttle_time",)


def plain(answer: Any) -> Any:
    """An answer of the raw client by the names of its fields, without what never matters.

    An error's message is only there or not: each broker has its own words.
    """
    if isinstance(answer, ErrorCode):
        return answer.name
    if dataclasses.is_dataclass(answer):
        fields = [field.name for field in dataclasses.fields(answer)]
        return {
            name: _message(getattr(answer, name)) if name == "error_message"
            else plain(getattr(answer, name))
            for name in fields if name not in _LEFT_OUT
        }  # fmt: skip
    if isinstance(answer, dict):
        return {_key(key): plain(value) for key, value in answer.items()}
    if isinstance(answer, (list, tuple)):
        return [plain(item) for item in answer]
    if isinstance(answer, (set, frozenset)):
        return sorted((plain(item) for item in answer), key=repr)
    if isinstance(answer, datetime.timedelta):
        return answer // datetime.timedelta(milliseconds=1)
    if isinstance(answer, enum.Enum):
        return answer.name
    return answer


def picked(answer: Any, *names: str) -> dict[str, Any]:
    """Some fields of an answer."""
    return {name: plain(getattr(answer, name)) for name in names}


def records(batches: bytes | None) -> list[Any]:
    """What a fetch returned, record by record."""
    return [
        [offset, message.key, message.value, message.timestamp, list(message.headers)]
        for offset, message in records_in(batches)
    ]


def values(batches: bytes | None) -> list[Any]:
    return [[offset, message.value] for offset, message in records_in(batches)]


def outcome(act: Callable[[], Any]) -> Any:
    """What a confluent-kafka call returned, or the name of its error."""
    try:
        return act()
    except KafkaException as error:
        return failure(error.args[0])


def failure(error: KafkaError | None) -> Any:
    return None if error is None else f"error:{error.name()}"


def same_names(observed: Any, engine: Engine) -> Any:
    """Replace what is random: ids by the order in which they appear, ports by a word."""
    return _Names(engine).replace(observed)


class _Names:
    def __init__(self, engine: Engine) -> None:
        self._port = engine.port
        self._known: dict[str, str] = {}

    def replace(self, value: Any) -> Any:
        if isinstance(value, uuid.UUID):
            return self._name(str(value)) if value.int else "no id"
        if isinstance(value, bool):
            return value
        if isinstance(value, int):
            return "<port>" if value == self._port else value
        if isinstance(value, str):
            text = _UUID.sub(lambda match: self._name(match[0]), value)
            return re.sub(rf"\b{self._port}\b", "<port>", text)
        if isinstance(value, Message):
            return self.replace(list(value))
        if isinstance(value, dict):
            return {self.replace(key): self.replace(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.replace(item) for item in value]
        return value

    def _name(self, random: str) -> str:
        return self._known.setdefault(random, f"<id {len(self._known) + 1}>")


def differences(kafka: Any, ours: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Where two observations differ: the path to it, Kafka's and ours."""
    if isinstance(kafka, dict) and isinstance(ours, dict):
        for key in sorted({*kafka, *ours}, key=repr):
            below = f"{path}.{key}" if path else str(key)
            if key not in kafka or key not in ours:
                yield below, kafka.get(key, MISSING), ours.get(key, MISSING)
            else:
                yield from differences(kafka[key], ours[key], below)
    elif isinstance(kafka, list) and isinstance(ours, list) and len(kafka) == len(ours):
        for index, pair in enumerate(zip(kafka, ours, strict=True)):
            yield from differences(*pair, f"{path}.{index}" if path else str(index))
    elif kafka != ours or type(kafka) is not type(ours):
        yield path, kafka, ours


class _Missing:
    def __repr__(self) -> str:
        return "(not there)"


MISSING = _Missing()


def _key(key: Any) -> Any:
    return "-".join(map(str, key)) if isinstance(key, tuple) else plain(key)


def _message(text: str | None) -> str | None:
    return "(a message)" if text else text
