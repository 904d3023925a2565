"""Handlers of loggers: what the worker's log tells of which part."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

import msgspec

from headwater.http.answers import answer
from headwater.http.errors import HttpError

if TYPE_CHECKING:
    from headwater.connect.worker.service import ConnectService
    from headwater.http.answers import Answer
    from headwater.http.request import Request

# Kafka's names for levels, and Python's numbers.
_LEVELS = {
    "OFF": logging.CRITICAL + 10,
    "FATAL": logging.CRITICAL,
    "ERROR": logging.ERROR,
    "WARN": logging.WARNING,
    "INFO": logging.INFO,
    "DEBUG": logging.DEBUG,
    "TRACE": logging.DEBUG - 5,
}
_NAMES = {number: name for name, number in _LEVELS.items()}
_changed: dict[str, int] = {}


class NewLevel(msgspec.Struct):
    """The body of a PUT."""

    level: str


async def list_loggers(_: ConnectService, __: Request) -> Answer:
    """Return all loggers that have a level."""
    named = logging.getLogger().manager.loggerDict
    set_here = [
        name
        for name, each in named.items()
        if isinstance(each, logging.Logger) and each.level != logging.NOTSET
    ]
    return answer({name: _shown(name) for name in ["root", *sorted(set_here)]})


async def get_logger(_: ConnectService, request: Request) -> Answer:
    """Return one logger's level."""
    name = request.parameters["logger"]
    if name != "root" and name not in logging.getLogger().manager.loggerDict:
        raise HttpError(404, 404, f"Logger {name} not found.")
    return answer(_shown(name))


async def set_logger(_: ConnectService, request: Request) -> Answer:
    """Set a logger's level on this worker, and return which loggers that changed."""
    name, level = request.parameters["logger"], request.decode(NewLevel).level.upper()
    if level not in _LEVELS:
        raise HttpError(404, 404, f"invalid log level '{level}': it is one of {', '.join(_LEVELS)}")
    _logger(name).setLevel(_LEVELS[level])
    _changed[name] = int(time.time() * 1000)
    return answer([name])


def _shown(name: str) -> dict[str, object]:
    number = _logger(name).getEffectiveLevel()
    level = _NAMES.get(number, logging.getLevelName(number))
    return {"level": level, "last_modified": _changed.get(name)}


def _logger(name: str) -> logging.Logger:
    return logging.getLogger(None if name == "root" else name)
