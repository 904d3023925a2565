"""The registry's interface: the table of all routes, and what clients can send and get."""

from __future__ import annotations

from headwater.http.answers import JSON
from headwater.http.interface import Interface
from headwater.http.media_types import MediaTypes
from headwater.http.routes import Parameter
from headwater.registry.http import compatibility, schemas, server, settings, subjects
from headwater.registry.http.openapi_schemas import SCHEMAS
from headwater.registry.http.routes import RegistryRoute

V1_JSON = "application/vnd.schemaregistry.v1+json"
DEFAULT_JSON = "application/vnd.schemaregistry+json"
MEDIA = MediaTypes((V1_JSON, DEFAULT_JSON, JSON), taken=("application/octet-stream",))

_DELETED = Parameter("deleted", "Include what was deleted, but not permanently.")
_DELETED_ONLY = Parameter("deletedOnly", "Only what was deleted, but not permanently.")
_PERMANENT = Parameter("permanent", "Delete for good what was deleted before.")
_NORMALIZE = Parameter("normalize", "Bring the schema into its normal form first.")
_FORMAT = Parameter("format", "resolved (Avro) or serialized (Protobuf).", "string")
_SUBJECT = Parameter("subject", "The subject, or context, in which the id was given.", "string")
_PREFIX = Parameter("subjectPrefix", "Only subjects that start with it.", "string")
_QUALIFIED = Parameter("referenceFormat", "qualified: references with contexts.", "string")
_VERBOSE = Parameter("verbose", "Say why it is incompatible.")
_DEFAULT_TO_GLOBAL = Parameter("defaultToGlobal", "What holds, if nothing was set here.")
_FORCE = Parameter("force", "Do it although there are schemas.")
_RECURSIVE = Parameter("recursive", "Also for all subjects in the context.")
_PAGE = (
    Parameter("offset", "How many to leave out at the start.", "integer"),
    Parameter("limit", "How many to return at most.", "integer"),
)
_VERSION = "/subjects/{subject}/versions/{version}"


def _subject_routes() -> list[RegistryRoute]:
    return [
        RegistryRoute(
            "GET", "/subjects", subjects.list_subjects, "List subjects", "Strings",
            query=(_PREFIX, _DELETED, _DELETED_ONLY, *_PAGE),
        ),
        RegistryRoute(
            "POST", "/subjects/{subject}", subjects.look_up, "Find a schema under a subject",
            "Schema", body="RegisterRequest", query=(_NORMALIZE, _DELETED, _FORMAT),
            errors=(404, 422),
        ),
        RegistryRoute(
            "DELETE", "/subjects/{subject}", subjects.delete_subject, "Delete a subject",
            "Integers", query=(_PERMANENT,), errors=(404, 422), writes=True,
        ),
        RegistryRoute(
            "GET", "/subjects/{subject}/metadata", subjects.latest_with_metadata,
            "Find the latest version with these properties in its metadata", "Schema",
            query=(
                Parameter("key", "A property's name; may come several times.", "string"),
                Parameter("value", "Its value, in the same order.", "string"),
                _DELETED,
                _FORMAT,
            ),
            errors=(404,),
        ),
        RegistryRoute(
            "GET", "/subjects/{subject}/versions", subjects.list_versions,
            "List a subject's versions", "Integers",
            query=(
                _DELETED,
                _DELETED_ONLY,
                Parameter("deletedAsNegative", "Deleted versions as negative numbers."),
                *_PAGE,
            ),
            errors=(404,),
        ),
        RegistryRoute(
            "POST", "/subjects/{subject}/versions", subjects.register, "Register a schema",
            "RegisterResponse", body="RegisterRequest", query=(_NORMALIZE, _FORMAT, _FORCE),
            errors=(409, 422), writes=True, prepare=subjects.prepare_registration,
        ),
        RegistryRoute(
            "GET", _VERSION, subjects.get_version, "Get a version", "Schema",
            query=(_DELETED, _FORMAT, _QUALIFIED), errors=(404, 422),
        ),
        RegistryRoute(
            "DELETE", _VERSION, subjects.delete_version, "Delete a version", "Integer",
            query=(_PERMANENT,), errors=(404, 422), writes=True,
        ),
        RegistryRoute(
            "GET", f"{_VERSION}/schema", subjects.get_version_text, "Get a version's text", "Text",
            query=(_DELETED, _FORMAT), errors=(404, 422),
        ),
        RegistryRoute(
            "GET", f"{_VERSION}/referencedby", subjects.get_referrers,
            "List the ids of the schemas that refer to a version", "Integers",
            query=(_DELETED, *_PAGE), errors=(404, 422),
        ),
    ]  # fmt: skip


def _schema_routes() -> list[RegistryRoute]:
    return [
        RegistryRoute(
            "GET", "/schemas", schemas.list_schemas, "List schemas", "Schemas",
            query=(
                _PREFIX,
                _DELETED,
                Parameter("latestOnly", "Only the latest version of each subject."),
                Parameter("aliases", "Also by the aliases of subjects."),
                Parameter("ruleType", "Only those with rules of this type.", "string"),
                *_PAGE,
            ),
        ),
        RegistryRoute(
            "GET", "/schemas/types", schemas.get_types, "List the types of schemas", "Strings"
        ),
        RegistryRoute(
            "GET", "/schemas/ids/{id}", schemas.get_schema, "Get a schema by its id",
            "SchemaString",
            query=(
                _SUBJECT,
                _FORMAT,
                _QUALIFIED,
                Parameter("fetchMaxId", "Also return the largest id in use."),
            ),
            errors=(404,),
        ),
        RegistryRoute(
            "GET", "/schemas/ids/{id}/schema", schemas.get_schema_text,
            "Get a schema's text by its id", "Text", query=(_SUBJECT, _FORMAT), errors=(404,),
        ),
        RegistryRoute(
            "GET", "/schemas/ids/{id}/subjects", schemas.get_subjects,
            "List the subjects that have a schema", "Strings", query=(_SUBJECT, _DELETED, *_PAGE),
            errors=(404,),
        ),
        RegistryRoute(
            "GET", "/schemas/ids/{id}/versions", schemas.get_versions,
            "List the versions that have a schema", "SubjectVersions",
            query=(_SUBJECT, _DELETED, *_PAGE), errors=(404,),
        ),
        RegistryRoute(
            "GET", "/schemas/guids/{guid}", schemas.get_by_guid, "Get a schema by its guid",
            "SchemaString", query=(_FORMAT,), errors=(404,),
        ),
        RegistryRoute(
            "GET", "/schemas/guids/{guid}/ids", schemas.get_ids_by_guid,
            "List the ids that a schema has in its contexts", "ContextIds",
        ),
    ]  # fmt: skip


def _compatibility_routes() -> list[RegistryRoute]:
    path = "/compatibility/subjects/{subject}/versions"
    return [
        RegistryRoute(
            "POST", path, compatibility.check_all,
            "Check a schema against a subject's versions, as its level demands",
            "CompatibilityResponse", body="RegisterRequest", query=(_NORMALIZE, _VERBOSE),
            errors=(422,),
        ),
        RegistryRoute(
            "POST", f"{path}/{{version}}", compatibility.check_one,
            "Check a schema against one version", "CompatibilityResponse",
            body="RegisterRequest", query=(_NORMALIZE, _VERBOSE), errors=(404, 422),
        ),
    ]  # fmt: skip


def _settings_routes() -> list[RegistryRoute]:
    routes: list[RegistryRoute] = []
    for end, of in (("", "everything"), ("/{subject}", "a subject or context")):
        routes += [
            RegistryRoute(
                "GET", f"/config{end}", settings.get_config, f"Get the settings of {of}", "Config",
                query=(_DEFAULT_TO_GLOBAL,), errors=(404,) if end else (),
            ),
            RegistryRoute(
                "PUT", f"/config{end}", settings.put_config, f"Change the settings of {of}",
                "ConfigUpdate", body="ConfigUpdate", errors=(422,), writes=True,
            ),
            RegistryRoute(
                "DELETE", f"/config{end}", settings.delete_config,
                f"Take away the settings of {of}", "Config", errors=(404, 422), writes=True,
            ),
            RegistryRoute(
                "GET", f"/mode{end}", settings.get_mode, f"Get the mode of {of}", "Mode",
                query=(_DEFAULT_TO_GLOBAL,), errors=(404,) if end else (),
            ),
            RegistryRoute(
                "PUT", f"/mode{end}", settings.put_mode, f"Set the mode of {of}", "Mode",
                body="Mode", query=(_FORCE,), errors=(422,), writes=True,
            ),
            RegistryRoute(
                "DELETE", f"/mode{end}", settings.delete_mode, f"Take away the mode of {of}",
                "Mode", query=(_RECURSIVE,), errors=(404, 422), writes=True,
            ),
        ]  # fmt: skip
    return routes


def _server_routes() -> list[RegistryRoute]:
    prefix = Parameter("contextPrefix", "Only contexts that start with it.", "string")
    return [
        RegistryRoute("GET", "/", server.root, "See whether the server is there", "Object"),
        RegistryRoute("POST", "/", server.root, "See whether the server is there", "Object"),
        RegistryRoute(
            "GET", "/contexts", server.list_contexts, "List contexts", "Strings",
            query=(prefix, *_PAGE),
        ),
        RegistryRoute(
            "DELETE", "/contexts/{context}", server.delete_context, "Delete an empty context",
            "Nothing", errors=(422,), writes=True, status=204,
        ),
        RegistryRoute(
            "GET", "/v1/metadata/id", server.get_cluster_id, "Get the ids of the clusters",
            "ClusterId",
        ),
        RegistryRoute(
            "GET", "/v1/metadata/version", server.get_server_version, "Get the server's version",
            "ServerVersion",
        ),
        RegistryRoute(
            "GET", "/v1/metadata/deployment", server.get_deployment, "Get what runs it", "Object"
        ),
    ]  # fmt: skip


INTERFACE = Interface(
    "Headwater Schema Registry",
    [
        *_subject_routes(),
        *_schema_routes(),
        *_compatibility_routes(),
        *_settings_routes(),
        *_server_routes(),
    ],
    MEDIA,
    description="Compatible with Confluent's Schema Registry. Every path below /subjects, "
    "/schemas, /compatibility, /config and /mode also exists below /contexts/{context}, where "
    "names mean subjects of that context.",
    schemas=SCHEMAS,
    meanings={
        400: "The request is malformed.",
        404: "There is no such thing; the error's code says which.",
        409: "The schema is incompatible; the message says why and what to do.",
        422: "It cannot be done; the error's code and message say why.",
        500: "Kafka or the leader could not be reached.",
    },
    integers=frozenset({"id"}),
)
