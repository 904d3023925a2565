"""What clients send and get: schemas with their references, metadata and rules, and settings."""

from __future__ import annotations

import hashlib
import struct
import uuid
from typing import Any

from msgspec import UNSET, Struct, UnsetType, field

MIGRATION_MODES = frozenset({"UPGRADE", "DOWNGRADE", "UPDOWN"})
DOMAIN_MODES = frozenset({"WRITE", "READ", "WRITEREAD"})


class SchemaReference(Struct, frozen=True, order=True):
    """A schema that another one uses, by the name it is called there."""

    name: str
    subject: str
    version: int

    def to_json(self) -> dict[str, Any]:
        """Return what clients see."""
        return {"name": self.name, "subject": self.subject, "version": self.version}


class Metadata(Struct, frozen=True):
    """What users note about a schema."""

    tags: dict[str, list[str]] | None = None
    properties: dict[str, str] | None = None
    sensitive: list[str] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return what clients see: everything sorted, and nothing that is empty."""
        tags = {key: sorted(set(values)) for key, values in sorted((self.tags or {}).items())}
        parts = {
            "tags": tags,
            "properties": dict(sorted((self.properties or {}).items())),
            "sensitive": sorted(set(self.sensitive or ())),
        }
        return {key: value for key, value in parts.items() if value}

    def merged_with(self, newer: Metadata) -> Metadata:
        """Return this with what is newer on top."""
        return Metadata(
            {**(self.tags or {}), **(newer.tags or {})},
            {**(self.properties or {}), **(newer.properties or {})},
            [*(self.sensitive or ()), *(newer.sensitive or ())],
        )

    def with_version(self, version: int) -> Metadata:
        """Return this with the version noted, as clients ask for it."""
        properties = {**(self.properties or {}), "confluent:version": str(version)}
        return Metadata(self.tags, properties, self.sensitive)


class Rule(Struct, frozen=True, rename="camel"):
    """A rule for clients to follow when they write, read or migrate data."""

    name: str | None = None
    doc: str | None = None
    kind: str | None = None
    mode: str | None = None
    type: str | None = None
    tags: list[str] | None = None
    params: dict[str, str] | None = None
    expr: str | None = None
    on_success: str | None = None
    on_failure: str | None = None
    disabled: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return what clients see."""
        parts: dict[str, Any] = {
            "name": self.name,
            "doc": self.doc,
            "kind": self.kind or "TRANSFORM",
            "mode": self.mode or "WRITEREAD",
            "type": self.type,
            "tags": sorted(set(self.tags or ())),
            "params": dict(sorted((self.params or {}).items())),
            "expr": self.expr,
            "onSuccess": self.on_success,
            "onFailure": self.on_failure,
            "disabled": self.disabled,
        }
        return {key: value for key, value in parts.items() if value or value is False}

    def complaint(self, modes: frozenset[str]) -> str | None:
        """Return what is wrong with the rule, if anything."""
        name = self.name or ""
        if not name:
            return "Missing rule name"
        if len(name) > 256:
            return "Rule name too long"
        if not (name[0].isalpha() or name[0] == "_"):
            return f"Illegal initial character in rule name: {name}"
        if not all(each.isalnum() or each in "_-" for each in name):
            return f"Illegal character in rule name: {name}"
        if not self.type:
            return "Missing rule type"
        mode = self.mode or "WRITEREAD"
        if mode not in modes:
            return f"Rule '{name}': the mode is one of {', '.join(sorted(modes))}"
        actions = f"{self.on_success or ''}{self.on_failure or ''}"
        if "," in actions and mode not in ("WRITEREAD", "UPDOWN"):
            return "Multiple actions only valid with WRITEREAD and UPDOWN"
        return None


class RuleSet(Struct, frozen=True, rename="camel"):
    """All rules of a schema."""

    migration_rules: list[Rule] | None = None
    domain_rules: list[Rule] | None = None
    encoding_rules: list[Rule] | None = None
    enable_at: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return what clients see."""
        parts: dict[str, Any] = {
            "migrationRules": [rule.to_json() for rule in self.migration_rules or ()],
            "domainRules": [rule.to_json() for rule in self.domain_rules or ()],
            "encodingRules": [rule.to_json() for rule in self.encoding_rules or ()],
            "enableAt": self.enable_at,
        }
        return {key: value for key, value in parts.items() if value}

    @property
    def rules(self) -> list[Rule]:
        """All of them."""
        return [
            *(self.migration_rules or ()),
            *(self.domain_rules or ()),
            *(self.encoding_rules or ()),
        ]

    def complaint(self) -> str | None:
        """Return what is wrong with the rules, if anything."""
        names = [rule.name for rule in self.rules]
        for name in names:
            if names.count(name) > 1:
                return f"Found rule with duplicate name '{name}'"
        for rules, modes in (
            (self.migration_rules, MIGRATION_MODES),
            (self.domain_rules, DOMAIN_MODES),
            (self.encoding_rules, DOMAIN_MODES),
        ):
            for rule in rules or ():
                if (complaint := rule.complaint(modes)) is not None:
                    return complaint
        return None

    def merged_with(self, newer: RuleSet) -> RuleSet:
        """Return this with what is newer on top; rules of the same name are replaced."""
        return RuleSet(
            _merged(self.migration_rules, newer.migration_rules),
            _merged(self.domain_rules, newer.domain_rules),
            _merged(self.encoding_rules, newer.encoding_rules),
            newer.enable_at or self.enable_at,
        )


class RegisterRequest(Struct, rename="camel"):
    """The body of requests that send a schema."""

    schema: str | None = None
    schema_type: str | None = None
    references: list[SchemaReference] | None = None
    metadata: Metadata | None = None
    rule_set: RuleSet | None = None
    version: int | None = None
    id: int | None = None


class Config(Struct, frozen=True, rename="camel"):
    """Settings of a subject, a context, or everything."""

    alias: str | None = None
    alias_for_deks: str | None = None
    normalize: bool | None = None
    validate_fields: bool | None = None
    validate_new_schemas: bool | None = None
    validate_rules: bool | None = None
    compatibility_level: str | None = None
    compatibility_policy: str | None = None
    compatibility_group: str | None = None
    default_metadata: Metadata | None = None
    override_metadata: Metadata | None = None
    default_rule_set: RuleSet | None = None
    override_rule_set: RuleSet | None = None

    def to_json(self) -> dict[str, Any]:
        """Return what clients see."""
        parts: dict[str, Any] = {
            "alias": self.alias,
            "aliasForDeks": self.alias_for_deks,
            "normalize": self.normalize,
            "validateFields": self.validate_fields,
            "validateNewSchemas": self.validate_new_schemas,
            "validateRules": self.validate_rules,
            "compatibilityLevel": self.compatibility_level,
            "compatibilityPolicy": self.compatibility_policy,
            "compatibilityGroup": self.compatibility_group,
            "defaultMetadata": self.default_metadata,
            "overrideMetadata": self.override_metadata,
            "defaultRuleSet": self.default_rule_set,
            "overrideRuleSet": self.override_rule_set,
        }
        return {
            key: value.to_json() if isinstance(value, Metadata | RuleSet) else value
            for key, value in parts.items()
            if value is not None and value != ""
        }

    @property
    def changes_schemas(self) -> bool:
        """Whether metadata or rules are added to what is registered."""
        added = (
            self.default_metadata,
            self.override_metadata,
            self.default_rule_set,
            self.override_rule_set,
        )
        return any(each is not None for each in added)


class ConfigUpdate(Struct, rename="camel"):
    """The body of requests that change settings: what is not in it stays, null takes away."""

    alias: str | UnsetType | None = UNSET
    alias_for_deks: str | UnsetType | None = UNSET
    normalize: bool | UnsetType | None = UNSET
    validate_fields: bool | UnsetType | None = UNSET
    validate_new_schemas: bool | UnsetType | None = UNSET
    validate_rules: bool | UnsetType | None = UNSET
    compatibility_level: str | UnsetType | None = field(default=UNSET, name="compatibility")
    compatibility_policy: str | UnsetType | None = UNSET
    compatibility_group: str | UnsetType | None = UNSET
    default_metadata: Metadata | UnsetType | None = UNSET
    override_metadata: Metadata | UnsetType | None = UNSET
    default_rule_set: RuleSet | UnsetType | None = UNSET
    override_rule_set: RuleSet | UnsetType | None = UNSET

    def applied_to(self, config: Config) -> Config:
        """Return settings with this change made."""
        values: dict[str, Any] = {}
        for name in self.__struct_fields__:
            value = getattr(self, name)
            values[name] = getattr(config, name) if value is UNSET else value
        return Config(**values)


class ModeUpdate(Struct):
    """The body of requests that change a mode; null takes it away."""

    mode: str | UnsetType | None = UNSET


def guid(
    schema: str | None,
    references: tuple[SchemaReference, ...],
    metadata: Metadata | None,
    rule_set: RuleSet | None,
) -> uuid.UUID:
    """Return the id that a schema has everywhere: a hash of all that makes it what it is."""
    digest = hashlib.md5((schema or "").encode("utf-8", "surrogatepass"), usedforsecurity=False)
    for reference in references:
        digest.update(f"{reference.name}{reference.subject}".encode())
        digest.update(struct.pack(">i", reference.version))
    if metadata is not None:
        digest.update(b"\1")
        parts = metadata.to_json()
        for key, values in parts.get("tags", {}).items():
            digest.update(f"{key}{''.join(values)}".encode())
        for key, value in parts.get("properties", {}).items():
            digest.update(f"{key}{value}".encode())
        digest.update("".join(parts.get("sensitive", ())).encode())
    if rule_set is not None:
        digest.update(b"\1")
        for rule in rule_set.rules:
            digest.update(_rule_bytes(rule))
        digest.update((rule_set.enable_at or "").encode())
    return uuid.UUID(bytes=digest.digest())


def _rule_bytes(rule: Rule) -> bytes:
    parts = rule.to_json()
    texts = [parts.get(key, "") for key in ("name", "doc", "kind", "mode", "type")]
    texts += parts.get("tags", ())
    for key, value in parts.get("params", {}).items():
        texts += [key, value]
    texts += [parts.get(key, "") for key in ("expr", "onSuccess", "onFailure")]
    return "".join(texts).encode() + (b"\1" if rule.disabled else b"")


def _merged(older: list[Rule] | None, newer: list[Rule] | None) -> list[Rule] | None:
    names = {rule.name for rule in newer or ()}
    merged = [rule for rule in older or () if rule.name not in names]
    return [*merged, *(newer or ())] or None
