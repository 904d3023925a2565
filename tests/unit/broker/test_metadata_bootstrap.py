"""A new broker begins with the users and ACLs of its file, once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from headwater.broker.config import BrokerConfig
from headwater.broker.metadata.bootstrap import first_records, missing_patterns
from headwater.broker.metadata.metadata_store import MetadataStore
from headwater.broker.sasl.scram_credentials import NOBODY, ScramMechanism
from headwater.config import ConfigError
from headwater.security.bootstrap import Right, bootstrap_text

if TYPE_CHECKING:
    from pathlib import Path


def config_of(path: Path) -> BrokerConfig:
    return BrokerConfig(
        {"listeners": "PLAINTEXT://127.0.0.1:0", "headwater.bootstrap.file": str(path)}
    )


def test_users_and_acls_are_there_at_once_and_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "bootstrap.json"
    right = Right("User:ann", "ALL", "TOPIC", "ann", "PREFIXED")
    path.write_text(bootstrap_text({"ann": "secret"}, [right]))
    store = MetadataStore(tmp_path)
    store.commit(first_records(config_of(path), store.load()))
    store.commit(missing_patterns(store.metadata))
    assert missing_patterns(store.metadata) == []
    store.close()
    again = MetadataStore(tmp_path)
    metadata = again.load()
    again.close()
    assert {user for user, _ in metadata.scram} == {"ann", NOBODY}
    assert metadata.scram["ann", ScramMechanism.SCRAM_SHA_512].iterations == 8192
    assert [acl.principal for acl in metadata.acls] == ["User:ann"]
    # Whoever is deleted later must not come back.
    assert first_records(config_of(path), metadata) == []


def test_what_is_wrong_with_the_file_is_said(tmp_path: Path) -> None:
    path = tmp_path / "bootstrap.json"
    empty = MetadataStore(tmp_path).metadata
    with pytest.raises(ConfigError, match="No such file"):
        first_records(config_of(path), empty)
    nobody = {"acls": [vars(Right("ann", "ALL", "TOPIC", "ann"))]}
    for text, reason in {
        "{": "not as `headwater security init` writes it",
        "[]": "not as `headwater security init` writes it",
        '{"scram": [{"name": "ann"}]}': "not as `headwater security init` writes it",
        json.dumps(nobody): "has no type",
    }.items():
        path.write_text(text)
        with pytest.raises(ConfigError, match=reason):
            first_records(config_of(path), empty)
