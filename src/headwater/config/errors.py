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
