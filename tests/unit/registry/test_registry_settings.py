from __future__ import annotations

from headwater.registry.config import RegistryConfig
from headwater.registry.settings import REGISTRY_SETTINGS

# Texts of which only a few are allowed.
_OF_A_FEW = {"level": "FULL", "authentication": "REQUIRED"}


def test_each_default_is_what_the_registry_does_without_it() -> None:
    for setting in REGISTRY_SETTINGS.values():
        if setting.default is not None:
            text = setting.format(setting.default) or ""
            assert RegistryConfig.from_settings({setting.name: text}) == RegistryConfig()


def test_each_setting_changes_something() -> None:
    others = {"boolean": {"true": "false", "false": "true"}, "int": {}}
    for setting in REGISTRY_SETTINGS.values():
        default = setting.format(setting.default) or ""
        kind = setting.type.name.lower()
        text = {
            "boolean": others["boolean"].get(default, ""),
            "int": "7",
            "list": "http://other:1",
        }.get(kind, _OF_A_FEW.get(setting.name.split(".")[-1], "other"))
        changed = RegistryConfig.from_settings({setting.name: text})
        assert changed != RegistryConfig(), setting.name


def test_every_setting_says_what_it_does_in_one_sentence() -> None:
    for setting in REGISTRY_SETTINGS.values():
        assert setting.doc.endswith(".")
        assert ". " not in setting.doc.replace("kafkastore. ", ""), setting.name
