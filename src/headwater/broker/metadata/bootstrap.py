"""The users and ACLs with which a new broker begins, from the file of `headwater.bootstrap.file`.

Somebody has to be let in first, to make further users. Kafka has `kafka-storage format
--add-scram` for that; here it is a file, which counts once: when there are neither users nor ACLs.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwater.broker.acls.acl import acl_from_json, check_new
from headwater.broker.metadata.metadata_store import AclRecord, ScramRecord
from headwater.broker.sasl.scram_credentials import (
    NOBODY,
    ScramMechanism,
    credential_of,
    new_patterns,
)
from headwater.config import ConfigError
from headwater.protocol.errors import KafkaError

if TYPE_CHECKING:
    from headwater.broker.config import BrokerConfig
    from headwater.broker.metadata.metadata_store import Metadata

_SETTING = "headwater.bootstrap.file"


def first_records(config: BrokerConfig, metadata: Metadata) -> list[ScramRecord | AclRecord]:
    """Return what is to be stored first; nothing where anything is. Raises ConfigError."""
    given = config.text(_SETTING)
    if given is None or metadata.scram or metadata.acls:
        return []
    try:
        document = json.loads(Path(given).expanduser().read_text("utf-8"))
        users = [_user(each) for each in document.get("scram", ())]
        acls = [acl_from_json(each) for each in document.get("acls", ())]
        for acl in acls:
            check_new(acl)
    except OSError as failure:
        raise ConfigError(_SETTING, given, failure.strerror or str(failure)) from None
    except KafkaError as failure:
        raise ConfigError(_SETTING, given, str(failure.message)) from None
    except (ValueError, KeyError, TypeError, AttributeError) as failure:
        reason = f"it is not as `headwater security init` writes it ({type(failure).__name__})"
        raise ConfigError(_SETTING, given, reason) from None
    return [*users, *map(AclRecord, acls)]


def missing_patterns(metadata: Metadata) -> list[ScramRecord]:
    """Return what unknown users are to look like, as far as the journal does not say it."""
    return [ScramRecord(NOBODY, *each) for each in new_patterns(metadata.scram).items()]


def _user(fields: dict[str, Any]) -> ScramRecord:
    mechanism = ScramMechanism[fields["mechanism"].replace("-", "_")]
    credential = credential_of(
        mechanism,
        bytes.fromhex(fields["salt"]),
        int(fields["iterations"]),
        bytes.fromhex(fields["saltedpassword"]),
    )
    return ScramRecord(fields["name"], mechanism, credential)
