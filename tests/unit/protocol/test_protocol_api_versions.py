from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kio.index import load_response_schema
from tests.unit.protocol.kio_oracle import FEW, plain, read, requests, responses, versions, write

from headwater.protocol.api_keys import ADVERTISED, ApiKey, VersionRange
from headwater.protocol.api_versions import (
    ApiVersionsRequest,
    FinalizedFeature,
    SupportedFeature,
    decode_request,
    encode_response,
    encode_unsupported_version,
)

EVERY_VERSION = pytest.mark.parametrize(("key", "version"), versions(ApiKey.API_VERSIONS))


@EVERY_VERSION
@FEW
@given(data=st.data())
def test_reads_any_request(key: ApiKey, version: int, data: st.DataObject) -> None:
    entity = data.draw(requests(key, version))
    request = decode_request(version, memoryview(b"header" + write(entity)), 6)
    assert request._asdict() == {
        "client_software_name": "",
        "client_software_version": "",
        **plain(entity),
    }


@EVERY_VERSION
@FEW
@given(data=st.data())
def test_writes_any_response(key: ApiKey, version: int, data: st.DataObject) -> None:
    tree = plain(data.draw(responses(key, version)))
    apis = {
        api["api_key"]: VersionRange(api["min_version"], api["max_version"])
        for api in tree["api_keys"]
    }
    encoded = encode_response(
        version,
        apis,
        error_code=tree["error_code"],
        throttle_ms=tree.get("throttle_time", 0),
        supported_features=[
            SupportedFeature(**feature) for feature in tree.get("supported_features", ())
        ],
        finalized_features_epoch=tree.get("finalized_features_epoch", -1),
        finalized_features=[
            FinalizedFeature(**feature) for feature in tree.get("finalized_features", ())
        ],
    )
    expected = {
        **tree,
        "api_keys": [
            {"api_key": key, "min_version": low, "max_version": high}
            for key, (low, high) in sorted(apis.items())
        ],
    }
    if version >= 3:
        expected["finalized_features_epoch"] = max(tree["finalized_features_epoch"], -1)
        expected["zk_migration_ready"] = False
    if version == 3:
        expected["supported_features"] = [
            feature for feature in tree["supported_features"] if feature["min_version"] > 0
        ]
    assert plain(read(load_response_schema(key, version), encoded)) == expected


@EVERY_VERSION
def test_tells_what_is_served(key: ApiKey, version: int) -> None:
    answer = plain(read(load_response_schema(key, version), encode_response(version)))
    assert answer["error_code"] == 0
    assert [tuple(api.values()) for api in answer["api_keys"]] == [
        (key, *ADVERTISED[key]) for key in sorted(ADVERTISED)
    ]
    assert (0, 0, 13) in [tuple(api.values()) for api in answer["api_keys"]]


def test_an_unknown_version_is_told_the_known_ones_in_the_oldest() -> None:
    answer = plain(read(load_response_schema(ApiKey.API_VERSIONS, 0), encode_unsupported_version()))
    assert answer == {
        "error_code": 35,
        "api_keys": [{"api_key": 18, "min_version": 0, "max_version": 4}],
    }


@pytest.mark.parametrize(("version", "names"), [(3, ["new"]), (4, ["old", "new"])])
def test_a_feature_of_level_zero_is_kept_from_clients_that_choke_on_it(
    version: int, names: list[str]
) -> None:
    encoded = encode_response(
        version,
        {ApiKey.FETCH: VersionRange(4, 18)},
        supported_features=[SupportedFeature("old", 0, 1), SupportedFeature("new", 1, 2)],
    )
    answer: Any = read(load_response_schema(ApiKey.API_VERSIONS, version), encoded)
    assert [feature.name for feature in answer.supported_features] == names


@pytest.mark.parametrize(
    ("name", "software_version", "valid"),
    [
        ("apache-kafka-java", "4.3.1", True),
        ("librdkafka", "2.6.0-1", True),
        ("x", "1", True),
        ("", "1", False),
        ("-x", "1", False),
        ("x-", "1", False),
        ("x y", "1", False),
        ("x", "1\n", False),
    ],
)
def test_knows_proper_names_of_software(name: str, software_version: str, valid: bool) -> None:
    request = ApiVersionsRequest(name, software_version)
    assert request.is_valid(3) is valid
    assert request.is_valid(2) is True
