"""DescribeUserScramCredentials and AlterUserScramCredentials."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from headwater.broker.authorizer import CLUSTER
from headwater.broker.metadata.metadata_store import ScramRecord
from headwater.broker.requests.log_errors import error_code_of
from headwater.broker.sasl.scram_credentials import (
    MAX_ITERATIONS,
    MIN_ITERATIONS,
    NOBODY,
    ScramCredential,
    ScramMechanism,
    credential_of,
    new_patterns,
)
from headwater.broker.session import USER, Principal
from headwater.log.errors import LogError
from headwater.protocol import messages
from headwater.protocol.acls import AclOperation
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Collection, Iterable

    from headwater.broker.broker import Broker
    from headwater.broker.requests.request import Request, Response
    from headwater.broker.sasl.scram_credentials import ScramCredentials, ScramUser


def describe_user_scram_credentials(broker: Broker, request: Request) -> Response:
    """List the mechanisms that users have passwords for; never the passwords."""
    version = request.header.api_version
    wanted = messages.decode_request(
        ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, version, request.view, request.header.body
    )
    tree: dict[str, Any] = {"error_code": ErrorCode.NONE, "error_message": None, "results": []}
    try:
        request.require(AclOperation.DESCRIBE, CLUSTER)
    except KafkaError as refusal:
        tree.update(error_code=refusal.code, error_message=refusal.message)
    else:
        known = _by_user(broker)
        names = Counter(user.name for user in wanted.users or ()) or Counter(list(known))
        tree["results"] = [_described(name, count, known) for name, count in names.items()]
    return messages.encode_response(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, version, tree)


def alter_user_scram_credentials(broker: Broker, request: Request) -> Awaitable[Response]:
    """Give users new passwords, and take some away."""
    version = request.header.api_version
    wanted = messages.decode_request(
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS, version, request.view, request.header.body
    )

    async def respond() -> Response:
        names = dict.fromkeys(c.name for c in (*wanted.deletions, *wanted.upsertions))
        errors: dict[str, KafkaError | None]
        try:
            request.require(AclOperation.ALTER, CLUSTER)
        except KafkaError as refusal:
            errors = dict.fromkeys(names, refusal)
        else:
            errors = await broker.topics.changes.run(lambda: _alter(broker, wanted))
        results = [
            {
                "user": name,
                "error_code": error.code if error else ErrorCode.NONE,
                "error_message": error.message if error else None,
            }
            for name in names
            for error in [errors[name]]
        ]
        tree = {"results": results}
        return messages.encode_response(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, version, tree)

    return respond()


def _by_user(broker: Broker) -> dict[str, list[tuple[ScramMechanism, ScramCredential]]]:
    found: dict[str, list[tuple[ScramMechanism, ScramCredential]]] = {}
    for (user, mechanism), credential in sorted(broker.topics.scram_credentials().items()):
        if user != NOBODY:
            found.setdefault(user, []).append((mechanism, credential))
    return found


def _described(
    name: str, count: int, known: dict[str, list[tuple[ScramMechanism, ScramCredential]]]
) -> dict[str, Any]:
    result: dict[str, Any] = {"user": name, "error_code": ErrorCode.NONE, "credential_infos": []}
    if count > 1:
        result["error_code"] = ErrorCode.DUPLICATE_RESOURCE
        result["error_message"] = (
            f"Cannot describe SCRAM credentials for the same user twice in a single request: {name}"
        )
    elif name not in known:
        result["error_code"] = ErrorCode.RESOURCE_NOT_FOUND
        result["error_message"] = (
            f"Attempt to describe a user credential that does not exist: {name}"
        )
    else:
        result["credential_infos"] = [
            {"mechanism": mechanism, "iterations": credential.iterations}
            for mechanism, credential in known[name]
        ]
    return result


async def _alter(broker: Broker, wanted: Any) -> dict[str, KafkaError | None]:
    """Change what can be changed and return what became of each user."""
    credentials = broker.topics.scram_credentials()
    changes = [*wanted.deletions, *wanted.upsertions]
    errors: dict[str, KafkaError | None] = dict.fromkeys(change.name for change in changes)
    counts = Counter((change.name, change.mechanism) for change in changes)
    records: list[ScramRecord] = []
    for change in changes:
        try:
            mechanism = _checked(change, counts[change.name, change.mechanism])
            if change in wanted.upsertions:
                records.append(_upserted(change, mechanism))
            elif (change.name, mechanism) in credentials:
                records.append(ScramRecord(change.name, mechanism, None))
            else:
                raise KafkaError(
                    ErrorCode.RESOURCE_NOT_FOUND,
                    "Attempt to delete a user credential that does not exist",
                )
        except KafkaError as error:
            errors[change.name] = errors[change.name] or error
    records = [record for record in records if errors[record.user] is None]
    if records:
        try:
            await broker.topics.store_credentials([*_patterns(records, credentials), *records])
        except LogError as error:
            failure = KafkaError(error_code_of(error), str(error))
            errors.update((record.user, failure) for record in records)
        else:
            _end_logins(broker, {(r.user, r.mechanism) for r in records if r.credential is None})
    return errors


def _end_logins(broker: Broker, gone: Collection[ScramUser]) -> None:
    """Log those out whose passwords are gone; what a token has proved does not rest on one."""
    by_principal = {(Principal(USER, user), mechanism.sasl_name) for user, mechanism in gone}
    if not by_principal:
        return
    for listener in broker.listeners:
        for connection in listener.connections:
            known = connection.session.authentication
            if known.token_owner is None and (known.principal, known.mechanism) in by_principal:
                connection.session.end_login()


def _patterns(records: Iterable[ScramRecord], credentials: ScramCredentials) -> list[ScramRecord]:
    """Return what unknown users are made of, where these users bring new kinds of salts."""
    changed = {
        (record.user, record.mechanism): record.credential
        for record in records
        if record.credential is not None
    }
    patterns = {user: kept for user, kept in credentials.items() if user[0] == NOBODY}
    found = new_patterns(patterns | changed)
    return [ScramRecord(NOBODY, *each) for each in found.items()]


def _checked(change: Any, count: int) -> ScramMechanism:
    if not change.name:
        raise KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Username must not be empty")
    if change.mechanism not in ScramMechanism.__members__.values():
        raise KafkaError(ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism")
    if count > 1:
        raise KafkaError(
            ErrorCode.DUPLICATE_RESOURCE,
            "A user credential cannot be altered twice in the same request",
        )
    return ScramMechanism(change.mechanism)


def _upserted(change: Any, mechanism: ScramMechanism) -> ScramRecord:
    if change.iterations < MIN_ITERATIONS:
        raise KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too few iterations")
    if change.iterations > MAX_ITERATIONS:
        raise KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too many iterations")
    salted = bytes(change.salted_password)
    credential = credential_of(mechanism, bytes(change.salt), int(change.iterations), salted)
    return ScramRecord(change.name, mechanism, credential)
