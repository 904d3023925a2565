"""Shows and sets the levels of loggers while a process runs, under the names that Kafka uses."""

from __future__ import annotations

import logging

ROOT = "root"

_OURS = "headwater"
_LEVELS = {
    "TRACE": logging.DEBUG,
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "ERROR": logging.ERROR,
    "FATAL": logging.CRITICAL,
}
_NAMES = {level: name for name, level in _LEVELS.items()}


class UnknownLoggerError(ValueError):
    """Nobody writes to a logger of that name."""


class UnknownLevelError(ValueError):
    """There is no such level."""


def levels() -> dict[str, str]:
    """Return the level of every logger of ours that is written to."""
    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] == _OURS]
    return {name: _level_name(_logger(name)) for name in [ROOT, *sorted(names)]}


def check_level(name: str, level: str) -> None:
    """Raise UnknownLoggerError or UnknownLevelError unless there are these."""
    if name not in levels():
        raise UnknownLoggerError(f"there is no logger {name}")
    if level not in _LEVELS:
        raise UnknownLevelError(f"{level} is no log level; there are {', '.join(_LEVELS)}")


def set_level(name: str, level: str | None) -> None:
    """Set a logger's level; None leaves it to its parent."""
    _logger(name).setLevel(logging.NOTSET if level is None else _LEVELS[level])


def _logger(name: str) -> logging.Logger:
    return logging.getLogger(None if name == ROOT else name)


def _level_name(logger: logging.Logger) -> str:
    return _NAMES.get(logger.getEffectiveLevel(), "INFO")
