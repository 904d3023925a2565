"""The proxy's interface: the routes of the versions that are served, and what they exchange."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.http.interface import Interface
from headwater.http.media_types import MediaTypes
from headwater.rest.embedded_formats import BY_OLD_CONTENT_TYPE, OFFERED
from headwater.rest.v2 import api as v2
from headwater.rest.v2 import openapi_schemas as v2_schemas
from headwater.rest.v3 import api as v3
from headwater.rest.v3 import openapi_schemas as v3_schemas

if TYPE_CHECKING:
    from headwater.http.routes import Route
    from headwater.rest.config import RestConfig

MEDIA = MediaTypes(OFFERED, taken=tuple(BY_OLD_CONTENT_TYPE))

_MEANINGS = {
    404: "There is no such topic, partition or consumer instance.",
    406: "The consumer instance has another format.",
    408: "The schema registry could not be asked, or a record could not be read.",
    409: "It exists already, or cannot be done as the consumer instance is.",
    422: "The request makes no sense, or a value does not fit its schema.",
    429: "The cluster takes records more slowly than they come.",
}


def interface(config: RestConfig) -> Interface[Route]:
    """Return what clients can ask for."""
    return Interface(
        "REST Proxy",
        [
            *(v2.routes() if config.serves_v2 else ()),
            *(v3.routes() if config.serves_v3 else ()),
        ],
        MEDIA,
        "Topics, records and consumers by HTTP, as Confluent's REST Proxy has them.",
        v2_schemas.SCHEMAS | v3_schemas.SCHEMAS,
        _MEANINGS,
        frozenset({"partition", "partition_id"}),
    )
