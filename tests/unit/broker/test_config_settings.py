"""The tables of settings, held against what a real Kafka says of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.broker.kafka_settings import BROKER, DYNAMIC_ONLY, TOPIC, kafka_accepts, probes

from headwater.broker import config
from headwater.broker.config.settings import BROKER_SETTINGS, audit, own
from headwater.broker.config.settings.deviations import OUR_DEFAULTS, OUR_UPDATE_MODES
from headwater.broker.config.synonyms import TOPIC_SYNONYMS
from headwater.config import ConfigDef, ConfigError
from headwater.log.topic_settings import TOPIC_SETTINGS

AUTHORIZERS_OWN = {"super.users", "allow.everyone.if.no.acl.found"}
"""Kafka's broker hands these to its authorizer without knowing them itself."""

_CONFIG = Path(config.__file__).parent
_BROKER = _CONFIG.parent


def test_there_is_every_setting_of_kafka_and_no_other() -> None:
    ours = {setting.name for setting in (*own.SETTINGS, *audit.SETTINGS)} | AUTHORIZERS_OWN
    assert set(TOPIC_SETTINGS) == set(TOPIC)
    assert set(BROKER_SETTINGS) == set(BROKER) | set(DYNAMIC_ONLY) | ours


@pytest.mark.parametrize("name", sorted(TOPIC))
def test_topic_settings_are_kafkas(name: str) -> None:
    kafka, ours = TOPIC[name], TOPIC_SETTINGS[name]
    assert ours.type.name == kafka["type"]
    assert ours.importance.name == kafka["importance"]
    assert ours.format(ours.default) == kafka["default"]
    assert ours.internal == kafka.get("internal", False)
    _check_limits(ours, kafka["accepts"])


@pytest.mark.parametrize("name", sorted(BROKER))
def test_broker_settings_are_kafkas_unless_we_say_why(name: str) -> None:
    kafka, ours = BROKER[name], BROKER_SETTINGS[name]
    assert ours.type.name == kafka["type"]
    assert ours.importance.name == kafka["importance"]
    assert ours.internal == kafka.get("internal", False)
    if name in OUR_DEFAULTS:
        assert ours.format(ours.default) != kafka["default"]
    else:
        assert ours.format(ours.default) == kafka["default"]
    if name in OUR_UPDATE_MODES:
        assert ours.update.value != kafka["update"]
    else:
        assert ours.update.value == kafka["update"]
    _check_limits(ours, kafka["accepts"])


def test_what_only_a_running_broker_takes_is_dynamic() -> None:
    for name, mode in DYNAMIC_ONLY.items():
        assert BROKER_SETTINGS[name].update.value == mode


def test_each_default_passes_its_own_check() -> None:
    for setting in BROKER_SETTINGS.values():
        if setting.default is not None:
            text = setting.format(setting.default)
            assert setting.parse(text or "") == setting.default


def test_every_setting_says_what_it_does_in_one_sentence() -> None:
    for setting in BROKER_SETTINGS.values():
        assert setting.doc.endswith("."), setting.name
        assert ". " not in setting.doc, setting.name


def test_every_deviation_has_a_reason() -> None:
    reasons = [*OUR_DEFAULTS.values(), *OUR_UPDATE_MODES.values()]
    assert all(reason.endswith(".") for reason in reasons)


def test_synonyms_have_the_type_of_what_they_stand_in_for() -> None:
    for topic_setting, synonyms in TOPIC_SYNONYMS.items():
        for broker_setting, factor in synonyms:
            kinds = {TOPIC_SETTINGS[topic_setting].type, BROKER_SETTINGS[broker_setting].type}
            assert len(kinds) == 1 or factor > 1


def test_a_topic_setting_without_effect_has_the_brokers_default() -> None:
    for topic_setting, synonyms in TOPIC_SYNONYMS.items():
        if not TOPIC_SETTINGS[topic_setting].has_effect:
            ((name, factor),) = synonyms
            assert factor == 1
            assert BROKER_SETTINGS[name].default == TOPIC_SETTINGS[topic_setting].default


def test_a_broker_starts_without_reading_the_settings_that_have_no_effect() -> None:
    program = (
        "from headwater.broker.config import BrokerConfig;"
        "BrokerConfig({'listeners': 'PLAINTEXT://127.0.0.1:0', 'log.dirs': 'data'});"
        "import sys;"
        "sys.exit('headwater.config.without_effect' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def _check_limits(setting: ConfigDef, accepts: str | None) -> None:
    for text in probes(accepts):
        try:
            setting.parse(text)
        except ConfigError:
            accepted = False
        else:
            accepted = True
        assert accepted == kafka_accepts(accepts or "", int(text)), (setting.name, text)


def test_a_setting_has_an_effect_if_and_only_if_the_broker_reads_it() -> None:
    """An operator is told which settings have none, so that list may not lie."""
    read = set()
    for path in _BROKER.rglob("*.py"):
        if not path.is_relative_to(_CONFIG) or path.name == "broker_config.py":
            text = path.read_text()
            read |= {name for name in BROKER_SETTINGS if f'"{name}"' in text}
    for topic_setting, synonyms in TOPIC_SYNONYMS.items():
        names = {name for name, _ in synonyms}
        if TOPIC_SETTINGS[topic_setting].has_effect:
            read |= names
        else:
            read -= names
    effective = {setting.name for setting in BROKER_SETTINGS.values() if setting.has_effect}
    assert effective - read == set(), "these are not read: move them to without_effect.json"
    assert read - effective == set(), "these are read: move them from without_effect.json"
