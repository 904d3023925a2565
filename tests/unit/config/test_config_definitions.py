from __future__ import annotations

import pytest

from headwater.config import (
    ConfigDef,
    ConfigError,
    ConfigType,
    Definitions,
    MissingSettingError,
    UnknownSettingError,
    Values,
    at_least,
    one_of,
)

PORT = ConfigDef("port", ConfigType.INT, 8082, "The port.", at_least(0))
HOSTS = ConfigDef("hosts", ConfigType.LIST, None, "The hosts.")
RARE = ConfigDef("seldom.used", ConfigType.BOOLEAN, True, "Rare.", has_effect=False)


class Rest:
    """Gives further settings, and counts how often it is asked for them."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self) -> list[ConfigDef]:
        self.asked += 1
        return [RARE]


def test_what_is_rarely_needed_is_read_when_it_is_needed_and_once() -> None:
    rest = Rest()
    settings = Definitions("rest", PORT, HOSTS, rest=rest)
    values = Values(settings, {"port": "1"})
    assert (values.integer("port"), values.words("hosts")) == (1, ())
    assert rest.asked == 0
    assert values.boolean("seldom.used") is True
    assert list(settings) == ["port", "hosts", "seldom.used"]
    assert "no.such" not in settings
    assert rest.asked == 1


def test_values_are_checked() -> None:
    with pytest.raises(ConfigError, match=r"Invalid value -1 for configuration port: .*at least 0"):
        Values(Definitions("rest", PORT), {"port": "-1"})


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("prot", r"no rest setting of that name; did you mean port\?"),
        ("qwertyuiop", r"there are client\.\*, hosts, port$"),
    ],
)
def test_an_unknown_name_is_refused_with_what_there_is(name: str, hint: str) -> None:
    settings = Definitions("rest", PORT, HOSTS, open_prefixes=("client.",))
    with pytest.raises(UnknownSettingError, match=hint):
        Values(settings, {name: "1"})


def test_what_has_an_open_prefix_is_somebody_elses() -> None:
    own = ConfigDef("client.port", ConfigType.INT, 1, "Ours.")
    settings = Definitions("rest", own, open_prefixes=("client.",))
    assert settings.is_open("client.linger.ms")
    assert not settings.is_open("client.port")
    assert not settings.is_open("linger.ms")
    assert dict(Values(settings, {"client.linger.ms": "x", "client.port": "2"})) == {
        "client.port": 2
    }


def test_a_setting_that_does_not_exist_has_no_value() -> None:
    with pytest.raises(KeyError):
        Values(Definitions("rest", PORT), {}).integer("no.such")


def test_passwords_are_not_in_messages() -> None:
    secret = ConfigDef("password", ConfigType.PASSWORD, None, "Secret.", one_of("a"))
    with pytest.raises(ConfigError) as caught:
        secret.parse("hush")
    assert "hush" not in str(caught.value)
    assert caught.value.value == "[hidden]"


def test_what_must_be_given_and_is_not_is_found() -> None:
    field = ConfigDef("field", ConfigType.STRING, None, "The field.", required=True)
    settings = Definitions("transform", PORT, field)
    assert settings.missing({"field": "x"}) == []
    (missing,) = settings.missing({"port": "1"})
    assert isinstance(missing, MissingSettingError)
    assert str(missing) == 'Missing required configuration "field" which has no default value.'
