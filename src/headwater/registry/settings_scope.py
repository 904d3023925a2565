"""Which settings and which mode hold for a subject: its own, its context's, or those of all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from headwater.registry.entities import Config
from headwater.registry.subjects import GLOBAL_CONTEXT, QualifiedSubject

if TYPE_CHECKING:
    from headwater.registry.store import SchemaStore

LEVELS = (
    "NONE",
    "BACKWARD",
    "BACKWARD_TRANSITIVE",
    "FORWARD",
    "FORWARD_TRANSITIVE",
    "FULL",
    "FULL_TRANSITIVE",
)
POLICIES = ("STRICT", "LENIENT", "LOGICAL")

READWRITE = "READWRITE"
READONLY = "READONLY"
READONLY_OVERRIDE = "READONLY_OVERRIDE"
IMPORT = "IMPORT"
FORWARD = "FORWARD"
MODES = (READWRITE, READONLY, READONLY_OVERRIDE, IMPORT, FORWARD)


class SettingsScope:
    """Looks settings up; `default_level` holds where nobody set any."""

    def __init__(self, store: SchemaStore, default_level: str) -> None:
        self._store = store
        self._default = Config(compatibility_level=default_level)

    def config(self, subject: str | None) -> Config | None:
        """Return the settings made for exactly this name; there always are some for everything."""
        found = self._store.configs.get(subject)
        if found is not None:
            return self._with_level(found)
        return self._default if _is_everything(subject) else None

    def config_in_scope(self, subject: str | None) -> Config:
        """Return the settings that hold for a subject."""
        own = self._store.configs.get(subject)
        if own is None or subject is None:
            return self._inherited_config(subject)
        everywhere = self.config(None) or self._default
        inherited = {
            name: getattr(everywhere, name) for name in _INHERITED if getattr(own, name) is None
        }
        return self._with_level(msgspec.structs.replace(own, **inherited))

    def mode(self, subject: str | None) -> str | None:
        """Return the mode set for exactly this name; there always is one for everything."""
        found = self._store.modes.get(subject)
        return READWRITE if found is None and _is_everything(subject) else found

    def mode_in_scope(self, subject: str | None) -> str:
        """Return the mode that holds for a subject."""
        modes = self._store.modes
        everywhere = modes.get(None)
        if everywhere == READONLY_OVERRIDE:
            return READONLY_OVERRIDE  # whatever others say
        for name in (subject, _parent(subject), f":{GLOBAL_CONTEXT}:"):
            if name in modes:
                return modes[name]
        return READWRITE

    def is_read_only(self, subject: str | None) -> bool:
        """Return whether nothing under a subject may change."""
        return self.mode_in_scope(subject) in (READONLY, READONLY_OVERRIDE)

    def _inherited_config(self, subject: str | None) -> Config:
        for name in (subject, _parent(subject), f":{GLOBAL_CONTEXT}:"):
            if name in self._store.configs:
                return self._with_level(self._store.configs[name])
        return self._default

    def _with_level(self, config: Config) -> Config:
        if config.compatibility_level is not None:
            return config
        return msgspec.structs.replace(
            config, compatibility_level=self._default.compatibility_level
        )


_INHERITED = (
    "normalize",
    "validate_fields",
    "validate_new_schemas",
    "validate_rules",
    "compatibility_policy",
    "compatibility_group",
)


def _parent(subject: str | None) -> str | None:
    if subject is None:
        return None
    prefix = QualifiedSubject.parse(subject).prefix
    return prefix or None


def _is_everything(subject: str | None) -> bool:
    return subject is None or QualifiedSubject.parse(subject).context == GLOBAL_CONTEXT
