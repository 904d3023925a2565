"""What a client of the proxy is told: Confluent's codes, and sentences that say what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headwater.clients.errors import (
    ClientError,
    InvalidTopicNameError,
    RefusedError,
    UnknownTopicError,
    describe,
)
from headwater.clients.retries import PASSING
from headwater.http.errors import HttpError
from headwater.serde.errors import RegistryError, RegistryUnreachableError, SchemaError, SerdeError

if TYPE_CHECKING:
    from confluent_kafka import KafkaError

BAD_REQUEST = 40002
TOPIC_NOT_FOUND = 40401
PARTITION_NOT_FOUND = 40402
CONSUMER_NOT_FOUND = 40403
# What version 3 says of a topic, and Kafka of a partition.
UNKNOWN_TOPIC = 40403
GROUP_NOT_FOUND = 40405
KAFKA_ERROR = 50002
RETRIABLE = 50003
_AUTHENTICATION = 40101
_AUTHORIZATION = 40301
_TOO_MANY_REQUESTS = 42901
_TOO_LARGE = 413


def topic_not_found(topic: str) -> HttpError:
    """The cluster has no such topic."""
    return HttpError(404, TOPIC_NOT_FOUND, f"Topic not found: there is no topic '{topic}'.")


def partition_not_found(topic: str, partition: object) -> HttpError:
    """The topic has no such partition."""
    message = f"Partition not found: '{topic}' has no partition {partition}."
    return HttpError(404, PARTITION_NOT_FOUND, message)


def consumer_not_found(group: str, name: str) -> HttpError:
    """There is no such consumer instance, at least not here."""
    return HttpError(
        404,
        CONSUMER_NOT_FOUND,
        f"Consumer instance not found: this proxy has no '{name}' in group '{group}'. It was "
        "deleted or has expired, or it was made by another proxy: use its base_uri.",
    )


def consumer_exists(group: str, name: str) -> HttpError:
    """The name is taken."""
    return HttpError(
        409, 40902, f"Consumer with specified consumer ID already exists: '{name}' in '{group}'."
    )


def format_mismatch(wanted: str, has: str) -> HttpError:
    """A consumer that was made for one format is read in another."""
    return HttpError(
        406,
        40601,
        f"The requested embedded data format '{wanted}' does not match this consumer instance, "
        f"which was made with format '{has}'.",
    )


def illegal_state(reason: str) -> HttpError:
    """The consumer cannot do this as it is."""
    return HttpError(409, 40903, f"Illegal state: {reason}")


def schema_missing(field: str) -> HttpError:
    """There are keys, or values, and no schema to write them with."""
    code = 42201 if field == "key" else 42202
    return HttpError(
        422, code,
        f"Request includes {field}s but does not include {field} schema: give {field}_schema or "
        f"{field}_schema_id.",
    )  # fmt: skip


def conversion_failed(reason: str) -> HttpError:
    """A value cannot be written in the format, or with the schema, that was asked for."""
    return HttpError(422, 42203, f"Conversion of JSON to Object failed: {reason}")


def invalid_consumer(reason: str) -> HttpError:
    """A consumer cannot be made so."""
    return HttpError(422, 42204, f"Invalid consumer configuration: {reason}")


def invalid_payload(reason: str) -> HttpError:
    """The request is JSON, and still makes no sense."""
    return HttpError(422, 42206, f"Payload error. {reason}")


def invalid_batch(reason: str) -> HttpError:
    """A batch of version 3 cannot be taken."""
    return HttpError(422, 42208, reason)


def too_many_requests(what: str) -> HttpError:
    """There is no room for more at the moment."""
    headers = ((b"retry-after", b"1"),)
    return HttpError(429, _TOO_MANY_REQUESTS, f"{what} Try again a little later.", headers)


class Verdict(NamedTuple):
    """A status and an error code."""

    status: int
    code: int


def verdict_of(error: KafkaError) -> Verdict:
    """Return with which status and code an error of Kafka is told."""
    name = str(error.name())
    known = _VERDICTS.get(name)
    if known is not None:
        return known
    if name.endswith("AUTHORIZATION_FAILED"):
        return Verdict(403, _AUTHORIZATION)
    if name in PASSING or error.retriable():
        return Verdict(500, RETRIABLE)
    return Verdict(500, KAFKA_ERROR)


def kafka_error(error: KafkaError) -> HttpError:
    """Kafka refused something, or did not answer."""
    status, code = verdict_of(error)
    return HttpError(status, code, f"Kafka error: {describe(error)}")


def client_error(failure: Exception) -> HttpError:
    """The cluster was not reached, or had nothing to answer with."""
    if isinstance(failure, UnknownTopicError):
        return HttpError(404, TOPIC_NOT_FOUND, f"Topic not found: {failure}")
    if isinstance(failure, InvalidTopicNameError):
        return HttpError(400, BAD_REQUEST, str(failure))
    if isinstance(failure, RefusedError):
        return HttpError(401, _AUTHENTICATION, f"Kafka error: {failure}")
    assert isinstance(failure, ClientError)
    return HttpError(500, RETRIABLE, f"Kafka error: {failure}")


def serde_error(failure: SerdeError) -> HttpError:
    """A key or value could not be read or written, or the registry could not be asked."""
    if isinstance(failure, SchemaError):
        return HttpError(422, 42205, f"Invalid schema: {failure}")
    if isinstance(failure, RegistryError | RegistryUnreachableError):
        return HttpError(408, 40801, f"Error of the schema registry: {failure}")
    return conversion_failed(str(failure))


_BAD = Verdict(400, BAD_REQUEST)
_VERDICTS = {
    "_AUTHENTICATION": Verdict(401, _AUTHENTICATION),
    "SASL_AUTHENTICATION_FAILED": Verdict(401, _AUTHENTICATION),
    "UNKNOWN_TOPIC_OR_PART": Verdict(404, UNKNOWN_TOPIC),
    "_UNKNOWN_TOPIC": Verdict(404, UNKNOWN_TOPIC),
    "_UNKNOWN_PARTITION": Verdict(404, PARTITION_NOT_FOUND),
    "MSG_SIZE_TOO_LARGE": Verdict(413, _TOO_LARGE),
    "BROKER_NOT_AVAILABLE": Verdict(503, 50302),
    "THROTTLING_QUOTA_EXCEEDED": Verdict(429, _TOO_MANY_REQUESTS),
    **dict.fromkeys(
        ("_MSG_TIMED_OUT", "_TIMED_OUT_QUEUE", "_QUEUE_FULL", "_PURGE_QUEUE", "_PURGE_INFLIGHT"),
        Verdict(500, RETRIABLE),
    ),
    **dict.fromkeys(
        (
            "INVALID_REPLICATION_FACTOR",
            "SECURITY_DISABLED",
            "UNSUPPORTED_VERSION",
            "_UNSUPPORTED_FEATURE",
            "INVALID_PARTITIONS",
            "INVALID_REQUEST",
            "UNKNOWN",
            "POLICY_VIOLATION",
            "TOPIC_ALREADY_EXISTS",
            "INVALID_CONFIG",
            "TOPIC_DELETION_DISABLED",
            "TOPIC_EXCEPTION",
            "INVALID_REPLICA_ASSIGNMENT",
            "_INVALID_ARG",
        ),
        _BAD,
    ),
}
