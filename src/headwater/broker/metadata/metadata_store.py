"""Keeps topics, settings, quotas, users, ACLs and tokens in a journal that survives any crash.

The file has a line for each change: a checksum and JSON. A change is there once its line has
been flushed, and a line that a crash cut short is dropped at the next start, which is right, as
nobody was told that it succeeded. Now and then the file is replaced, atomically, by a shorter
one that says the same.
"""

from __future__ import annotations

import json
import logging
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from headwater.broker.acls.acl import acl_from_json, acl_to_json
from headwater.broker.delegation_tokens.delegation_token import token_from_json, token_to_json
from headwater.broker.quotas.entity import entity_of
from headwater.broker.sasl.scram_credentials import ScramCredential, ScramMechanism
from headwater.broker.topics.topic_names import id_text, parse_id
from headwater.log.disk import storage_error, sync_data, temporary_of, write_at, write_atomically
from headwater.log.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from headwater.broker.acls.acl import Acl
    from headwater.broker.delegation_tokens.delegation_token import DelegationToken
    from headwater.broker.quotas.entity import Entity
    from headwater.broker.sasl.scram_credentials import ScramCredentials

logger = logging.getLogger("headwater.broker")

FILE_NAME = "headwater.metadata"

_HEADER = {"headwater": "metadata", "version": 1}
_REWRITE_ABOVE = 1 << 20
_GARBAGE_FACTOR = 4


class MetadataCorruptError(Exception):
    """The journal has a bad line in its middle, so that it cannot be trusted."""


class TopicRecord(NamedTuple):
    """What is known of a topic. Without partitions it is gone."""

    name: str
    topic_id: bytes
    partitions: int
    configs: dict[str, str]


class BrokerConfigRecord(NamedTuple):
    """What was set at run time for one broker, or for all of them under an empty name."""

    broker: str
    configs: dict[str, str]


class QuotaRecord(NamedTuple):
    """What clients may use: all quotas of one entity."""

    entity: Entity
    quotas: dict[str, float]


class ScramRecord(NamedTuple):
    """What is kept of a user's password for one mechanism. Without a credential it is gone."""

    user: str
    mechanism: ScramMechanism
    credential: ScramCredential | None


class AclRecord(NamedTuple):
    """An ACL that was created or, where it is not to exist, deleted."""

    acl: Acl
    exists: bool = True


class TokenRecord(NamedTuple):
    """A delegation token, new or with another end; or one that is gone."""

    token: DelegationToken
    exists: bool = True


Record = TopicRecord | BrokerConfigRecord | QuotaRecord | ScramRecord | AclRecord | TokenRecord


@dataclass(slots=True)
class Metadata:
    """All topics, run-time settings, quotas, users, ACLs and tokens."""

    topics: dict[str, TopicRecord] = field(default_factory=dict)
    broker_configs: dict[str, dict[str, str]] = field(default_factory=dict)
    quotas: dict[Entity, dict[str, float]] = field(default_factory=dict)
    scram: ScramCredentials = field(default_factory=dict)
    acls: dict[Acl, None] = field(default_factory=dict)
    tokens: dict[str, DelegationToken] = field(default_factory=dict)

    def apply(self, record: Record) -> None:
        """Take over one change."""
        match record:
            case TopicRecord(name, partitions=0):
                self.topics.pop(name, None)
            case TopicRecord(name):
                self.topics[name] = record
            case BrokerConfigRecord(broker, configs) if configs:
                self.broker_configs[broker] = configs
            case BrokerConfigRecord(broker):
                self.broker_configs.pop(broker, None)
            case QuotaRecord(entity, quotas) if quotas:
                self.quotas[entity] = quotas
            case QuotaRecord(entity):
                self.quotas.pop(entity, None)
            case ScramRecord(user, mechanism, kept) if kept is not None:
                self.scram[user, mechanism] = kept
            case ScramRecord(user, mechanism):
                self.scram.pop((user, mechanism), None)
            case AclRecord(acl, exists=True):
                self.acls[acl] = None
            case AclRecord(acl):
                self.acls.pop(acl, None)
            case TokenRecord(token, exists=True):
                self.tokens[token.id] = token
            case TokenRecord(token):
                self.tokens.pop(token.id, None)

    def records(self) -> list[Record]:
        """Return the changes that lead from nothing to here."""
        return [
            *self.topics.values(),
            *(BrokerConfigRecord(*item) for item in self.broker_configs.items()),
            *(QuotaRecord(*item) for item in self.quotas.items()),
            *(ScramRecord(*user, credential) for user, credential in self.scram.items()),
            *(AclRecord(acl) for acl in self.acls),
            *(TokenRecord(token) for token in self.tokens.values()),
        ]


class MetadataStore:
    """The journal of one data directory. Only one thread at a time may use it."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / FILE_NAME
        self.metadata = Metadata()
        self._fd = -1
        self._size = 0
        self._size_when_short = 0
        self._failure: StorageError | None = None

    def exists(self) -> bool:
        """Whether there is a journal at all."""
        return self.path.exists()

    def load(self) -> Metadata:
        """Read the journal, or begin one, and be ready to commit."""
        # What a crash has left of a rewrite: it has secrets, too, and nobody reads it.
        temporary_of(self.path).unlink(missing_ok=True)
        self._read() if self.exists() else self._rewrite()
        return self.metadata

    def commit(self, records: Iterable[Record]) -> None:
        """Make changes durable, all of them or none; raises StorageError if the disk refuses."""
        changes = list(records)
        if self._failure is not None:
            # A new one each time: what is raised again and again grows with every caller.
            raise StorageError(str(self._failure))
        line = _line([_to_json(record) for record in changes])
        try:
            write_at(self._fd, line, self._size)
        except OSError as error:
            self._undo()
            raise storage_error(error, "writing the topics' metadata") from error
        try:
            sync_data(self._fd)
        except OSError as error:
            # What a failed flush has left on disk is unknown until the file is read again.
            self._failure = storage_error(error, "flushing the topics' metadata")
            raise self._failure from error
        self._size += len(line)
        for record in changes:
            self.metadata.apply(record)
        if self._size > max(_REWRITE_ABOVE, _GARBAGE_FACTOR * self._size_when_short):
            self._rewrite()

    def close(self) -> None:
        """Let go of the file."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _read(self) -> None:
        data = self.path.read_bytes()
        *lines, rest = data.split(b"\n")
        good = 0
        changes = 0
        for number, line in enumerate(lines, 1):
            records = _parse(line)
            if records is None:
                self._check_torn(number, is_last=number == len(lines) and not rest)
                break
            self._check_header(records) if number == 1 else self._apply(records)
            good += len(line) + 1
            changes += len(records)
        if good == 0:
            self._check_header([])
        self._open()
        self._size = self._size_when_short = good
        if good < len(data):
            logger.warning(
                "dropped the last %d bytes of %s, which a crash had cut short",
                len(data) - good, self.path,
            )  # fmt: skip
            os.ftruncate(self._fd, good)
            os.fsync(self._fd)
        if changes > 1 + len(self.metadata.records()):
            self._rewrite()

    def _check_torn(self, number: int, *, is_last: bool) -> None:
        if not is_last:
            raise MetadataCorruptError(
                f"line {number} of {self.path} is damaged, and it is not the last one;"
                " restore the file from a backup, or move it away to have the topics"
                " rebuilt from their directories without their settings"
            )

    def _check_header(self, records: list[dict[str, Any]]) -> None:
        if records != [_HEADER]:
            raise MetadataCorruptError(
                f"{self.path} does not begin as this version of headwater writes it; restore it"
                " from a backup, or use the version that wrote it"
            )

    def _apply(self, records: list[dict[str, Any]]) -> None:
        for record in records:
            self.metadata.apply(_from_json(record))

    def _rewrite(self) -> None:
        lines = [_line([_HEADER])]
        lines += [_line([_to_json(record)]) for record in self.metadata.records()]
        data = b"".join(lines)
        write_atomically(self.path, data, is_private=True)
        self.close()
        self._open()
        self._size = self._size_when_short = len(data)

    def _open(self) -> None:
        self._fd = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
        if os.fstat(self._fd).st_mode & 0o077:
            try:
                os.fchmod(self._fd, 0o600)
            except OSError as error:
                # Some file systems know no modes; the broker has to start there, too.
                logger.warning(
                    "%s has users, ACLs and tokens, and others may read it: %s",
                    self.path, error.strerror,
                )  # fmt: skip

    def _undo(self) -> None:
        try:
            os.ftruncate(self._fd, self._size)
        except OSError as error:
            self._failure = storage_error(error, "undoing a failed write of the topics' metadata")


def _line(records: list[dict[str, Any]]) -> bytes:
    text = json.dumps(records, separators=(",", ":")).encode()
    return b"%08x %s\n" % (crc32(text), text)


def _parse(line: bytes) -> list[dict[str, Any]] | None:
    checksum, _, text = line.partition(b" ")
    if checksum != b"%08x" % crc32(text):
        return None
    records: list[dict[str, Any]] = json.loads(text)
    return records


def _to_json(record: Record) -> dict[str, Any]:
    match record:
        case TopicRecord(name, topic_id, partitions, configs):
            return {
                "topic": name,
                "id": id_text(topic_id),
                "partitions": partitions,
                "configs": configs,
            }
        case BrokerConfigRecord(broker, configs):
            return {"broker": broker, "configs": configs}
        case QuotaRecord(entity, quotas):
            return {"client": dict(entity), "quotas": quotas}
        case ScramRecord(user, mechanism, credential):
            return {
                "user": user,
                "scram": mechanism.sasl_name,
                "credential": credential and [
                    part if isinstance(part, int) else part.hex() for part in credential
                ],
            }  # fmt: skip
        case AclRecord(acl, exists):
            return {"acl": acl_to_json(acl), "exists": exists}
        case TokenRecord(token, exists):
            return {"delegationToken": token_to_json(token), "exists": exists}


def _from_json(record: dict[str, Any]) -> Record:
    if "topic" in record:
        return TopicRecord(
            record["topic"], parse_id(record["id"]), record["partitions"], record["configs"]
        )
    if "client" in record:
        return QuotaRecord(entity_of(record["client"]), record["quotas"])
    if "scram" in record:
        return _scram_record(record)
    if "acl" in record:
        return AclRecord(acl_from_json(record["acl"]), record["exists"])
    if "delegationToken" in record:
        return TokenRecord(token_from_json(record["delegationToken"]), record["exists"])
    return BrokerConfigRecord(record["broker"], record["configs"])


def _scram_record(record: dict[str, Any]) -> ScramRecord:
    mechanism = ScramMechanism[record["scram"].replace("-", "_")]
    if record["credential"] is None:
        return ScramRecord(record["user"], mechanism, None)
    salt, iterations, stored_key, server_key = record["credential"]
    keys = bytes.fromhex(stored_key), bytes.fromhex(server_key)
    credential = ScramCredential(bytes.fromhex(salt), iterations, *keys)
    return ScramRecord(record["user"], mechanism, credential)
