"""What can go wrong between bytes and values; every message says what, where and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.serde.refusals import readable_refusal

if TYPE_CHECKING:
    from headwater.serde.context import Context


class SerdeError(Exception):
    """The base of all errors of this package."""


class SchemaError(SerdeError):
    """A schema cannot be used: it is no schema, or lacks something that it refers to."""


class SerializationError(SerdeError):
    """A value does not fit its schema, so no bytes were made of it."""


class DeserializationError(SerdeError):
    """A payload is malformed; `reason` says how, the other attributes say which record it was.

    `partition` and `offset` are None where the caller did not say.
    """

    def __init__(self, context: Context, reason: str) -> None:
        self.topic = context.topic
        self.partition = context.partition
        self.offset = context.offset
        self.field = context.field
        self.reason = reason
        super().__init__(f"{context}: {reason}")


class RegistryError(SerdeError):
    """The schema registry refused a request; `status` and `error_code` are what it answered."""

    def __init__(self, url: str, status: int, error_code: int, message: str) -> None:
        self.url = url
        self.status = status
        self.error_code = error_code
        self.message = message
        told = readable_refusal(message)
        super().__init__(f"{told} ({status}, error code {error_code}, from {url})")


class RegistryUnreachableError(SerdeError):
    """No schema registry answered, at any of its addresses."""


def describe(failure: BaseException) -> str:
    """Return an error of a library as text that makes sense behind a colon."""
    text = str(failure).strip() or type(failure).__name__
    if isinstance(failure, KeyError | StopIteration | RecursionError | MemoryError):
        return f"{type(failure).__name__}: {text}"
    return text
