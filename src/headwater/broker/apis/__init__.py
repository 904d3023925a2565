"""The APIs that the broker serves, a file for each family; this table says who answers what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.broker.apis.api_versions import api_versions
from headwater.broker.apis.fetch import fetch
from headwater.broker.apis.list_offsets import list_offsets
from headwater.broker.apis.produce import produce
from headwater.protocol.api_keys import ApiKey

if TYPE_CHECKING:
    from headwater.broker.request import Handler

HANDLERS: dict[ApiKey, Handler] = {
    ApiKey.PRODUCE: produce,
    ApiKey.FETCH: fetch,
    ApiKey.LIST_OFFSETS: list_offsets,
    ApiKey.API_VERSIONS: api_versions,
}
