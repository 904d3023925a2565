"""Errors as clients of the registry know them: an HTTP status, a code of five digits, a message."""

from __future__ import annotations

from headwater.http.errors import HttpError
from headwater.topic_state.errors import RecordTooLargeError, StateTimeoutError, TopicStateError


class RegistryError(HttpError):
    """Something about subjects and schemas that a client is told."""


def subject_not_found(subject: str) -> RegistryError:
    """There is no such subject."""
    return RegistryError(404, 40401, f"Subject '{subject}' not found.")


def version_not_found(version: int) -> RegistryError:
    """The subject has no such version."""
    return RegistryError(404, 40402, f"Version {version} not found.")


def schema_not_found(which: object = None) -> RegistryError:
    """There is no such schema."""
    return RegistryError(
        404, 40403, "Schema not found" if which is None else f"Schema {which} not found"
    )


def subject_soft_deleted(subject: str) -> RegistryError:
    """The subject was deleted already, but not permanently; clients compare the text."""
    return RegistryError(
        404,
        40404,
        f"Subject '{subject}' was soft deleted.Set permanent=true to delete permanently",
    )


def subject_not_soft_deleted(subject: str) -> RegistryError:
    """A permanent deletion of what was not deleted before."""
    return RegistryError(
        404, 40405, f"Subject '{subject}' was not deleted first before being permanently deleted"
    )


def version_soft_deleted(subject: str, version: object) -> RegistryError:
    """The version was deleted already, but not permanently."""
    return RegistryError(
        404,
        40406,
        f"Subject '{subject}' Version {version} was soft deleted."
        "Set permanent=true to delete permanently",
    )


def version_not_soft_deleted(subject: str, version: object) -> RegistryError:
    """A permanent deletion of a version that was not deleted before."""
    return RegistryError(
        404,
        40407,
        f"Subject '{subject}' Version {version} was not deleted first before being permanently "
        "deleted",
    )


def no_subject_config(subject: str) -> RegistryError:
    """The subject has no settings of its own."""
    return RegistryError(
        404, 40408, f"Subject '{subject}' does not have subject-level compatibility configured"
    )


def no_subject_mode(subject: str) -> RegistryError:
    """The subject has no mode of its own."""
    return RegistryError(
        404, 40409, f"Subject '{subject}' does not have subject-level mode configured"
    )


def incompatible_schema(subject: str, details: str) -> RegistryError:
    """The schema breaks the compatibility that its subject asks for."""
    return RegistryError(
        409,
        409,
        "Schema being registered is incompatible with an earlier schema for subject "
        f'"{subject}", details: {details}',
    )


def invalid_schema(message: str) -> RegistryError:
    """The schema cannot be understood."""
    return RegistryError(422, 42201, message)


def invalid_version(version: object) -> RegistryError:
    """What stands for a version is none."""
    return RegistryError(
        422,
        42202,
        f"The specified version '{version}' is not a valid version id. Allowed values are between "
        '[1, 2^31-1] and the string "latest"',
    )


def invalid_compatibility_level() -> RegistryError:
    """There is no such level."""
    return RegistryError(
        422,
        42203,
        "Invalid compatibility level. Valid values are none, backward, forward, full, "
        "backward_transitive, forward_transitive, and full_transitive",
    )


def invalid_mode(message: str | None = None) -> RegistryError:
    """There is no such mode, or not here."""
    return RegistryError(
        422,
        42204,
        message
        or "Invalid mode. Valid values are READWRITE, READONLY, READONLY_OVERRIDE, IMPORT, FORWARD",
    )


def not_permitted(message: str) -> RegistryError:
    """The mode does not allow it."""
    return RegistryError(422, 42205, message)


def reference_exists(subject: str, version: int) -> RegistryError:
    """What is to be deleted is referred to by other schemas."""
    key = f"{{magic=1,keytype=SCHEMA,subject={subject},version={version}}}"
    return RegistryError(422, 42206, f"One or more references exist to the schema {key}.")


def id_does_not_match(message: str) -> RegistryError:
    """An id is already that of another schema."""
    return RegistryError(422, 42207, message)


def invalid_subject(subject: str) -> RegistryError:
    """This cannot be the name of a subject."""
    return RegistryError(422, 42208, f"The specified subject '{subject}' is not a valid subject.")


def schema_too_large(size: int, topic: str) -> RegistryError:
    """The schema does not fit into a record."""
    return RegistryError(
        422,
        42209,
        f"Register operation failed because schema is too large: a record of {size} bytes is more "
        f"than the topic {topic} takes (its setting max.message.bytes)",
    )


def invalid_rule_set(message: str) -> RegistryError:
    """The rules cannot be understood."""
    return RegistryError(422, 42210, message)


def context_not_empty(context: str) -> RegistryError:
    """A context with subjects cannot be deleted."""
    return RegistryError(422, 42211, f"The specified context '{context}' is not empty.")


def state_failed(failure: TopicStateError) -> RegistryError:
    """Kafka did not take or give what it should have, or not in time."""
    match failure:
        case RecordTooLargeError():
            return schema_too_large(failure.size, failure.topic)
        case StateTimeoutError():
            return RegistryError(500, 50002, str(failure))
        case _:
            return RegistryError(500, 50001, str(failure))


def forwarding_failed(message: str) -> RegistryError:
    """The leader could not be asked."""
    return RegistryError(500, 50003, message)


def unknown_leader(message: str) -> RegistryError:
    """No instance leads at the moment."""
    return RegistryError(500, 50004, message)
