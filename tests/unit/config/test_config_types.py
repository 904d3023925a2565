from __future__ import annotations

import math

import pytest

from headwater.config import ConfigType
from headwater.config.types import format_value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (False, "false"),
        (7, "7"),
        ((), ""),
        (("a", "b"), "a,b"),
        (None, None),
        (0.5, "0.5"),
        (0.0, "0.0"),
        (-2.25, "-2.25"),
        (1e6, "1000000.0"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (1.25e8, "1.25E8"),
        (123456789.0, "1.23456789E8"),
        (0.001, "0.001"),
        (0.0001, "1.0E-4"),
        (1.5e-7, "1.5E-7"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (5e-324, "5.0E-324"),
    ],
)
def test_values_are_written_as_java_writes_them(value: object, text: str | None) -> None:
    assert format_value(value) == text  # type: ignore[arg-type]
    if isinstance(value, float):
        assert math.isclose(float(text or ""), value)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (ConfigType.BOOLEAN, "TRUE", True),
        (ConfigType.SHORT, "-32768", -32768),
        (ConfigType.INT, "+7", 7),
        (ConfigType.LONG, "9223372036854775807", (1 << 63) - 1),
        (ConfigType.DOUBLE, "1e3", 1000.0),
        (ConfigType.LIST, "a , b,a", ("a", "b")),
        (ConfigType.LIST, "", ()),
        (ConfigType.CLASS, "org.example.Thing", "org.example.Thing"),
        (ConfigType.PASSWORD, "hush", "hush"),
    ],
)
def test_text_becomes_a_value(kind: ConfigType, text: str, value: object) -> None:
    assert kind.parse(text) == value


@pytest.mark.parametrize(
    ("kind", "text", "reason"),
    [
        (ConfigType.BOOLEAN, "yes", "true or false"),
        (ConfigType.INT, "1_000", "whole number"),
        (ConfigType.INT, "2147483648", "32 bits"),
        (ConfigType.SHORT, "32768", "16 bits"),
        (ConfigType.DOUBLE, "half", "not a number"),
    ],
)
def test_text_of_another_type_is_refused(kind: ConfigType, text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        kind.parse(text)
