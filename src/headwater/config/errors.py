"""What is wrong with a setting that was given."""

from __future__ import annotations

HIDDEN = "[hidden]"
"""What stands in messages instead of a password."""


class ConfigError(ValueError):
    """A setting has a value that it cannot have; `str()` names the setting, the value and why."""

    def __init__(self, name: str, value: object, reason: str) -> None:
        super().__init__(f"Invalid value {value} for configuration {name}: {reason}")
        self.name = name
        self.value = value
        self.reason = reason


class UnknownSettingError(ConfigError):
    """A setting has a name that does not exist; the reason may say which one was meant."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name, None, reason)
        self.args = (f"Unknown setting {name}: {reason}",)


class MissingSettingError(ConfigError):
    """A setting that has no default was not given; `str()` is as Kafka says it."""

    def __init__(self, name: str) -> None:
        super().__init__(name, None, "it has no default value, so it must be given")
        self.args = (f'Missing required configuration "{name}" which has no default value.',)
