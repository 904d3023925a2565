"""Shows and sets the levels of the broker's loggers, under the names that Kafka's tools use."""

from __future__ import annotations

import logging

from headwater.protocol.errors import ErrorCode, KafkaError

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


def levels() -> dict[str, str]:
    """Return the level of every logger that the broker writes to."""
    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] == _OURS]
    return {name: _level_name(_logger(name)) for name in [ROOT, *sorted(names)]}


def check_level(name: str, level: str) -> None:
    """Raise KafkaError unless there is such a logger and such a level."""
    if name not in levels():
        raise KafkaError(ErrorCode.INVALID_CONFIG, f"there is no logger {name}")
    if level not in _LEVELS:
        raise KafkaError(
            ErrorCode.INVALID_CONFIG, f"{level} is no log level; there are {', '.join(_LEVELS)}"
        )


def set_level(name: str, level: str | None) -> None:
    """Set a logger's level; None leaves it to its parent."""
    _logger(name).setLevel(logging.NOTSET if level is None else _LEVELS[level])


def _logger(name: str) -> logging.Logger:
    return logging.getLogger(None if name == ROOT else name)


def _level_name(logger: logging.Logger) -> str:
    return _NAMES.get(logger.getEffectiveLevel(), "INFO")
