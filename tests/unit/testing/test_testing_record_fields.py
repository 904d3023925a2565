"""Fields of a test's record that a program would never see are refused."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.plan.schemas.ddl import parse_ddl
from headwater.testing.record_fields import check_fields

ORDER = parse_ddl(
    "id string, lines array<struct<sku:string,n:int>>, tags map<string,struct<at:int>>"
)


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        {"id": None, "lines": [{"sku": "a"}, None], "tags": {"any": {"at": 1}}},
        b'{"more": 1}',
        "text",
    ],
)
def test_records_that_fit(value: Any) -> None:
    check_fields(value, ORDER, "orders")


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"idd": 1}, r"no field 'idd' from 'orders' \(it reads id, lines, tags\); .* 'id'"),
        ({"ID": 1}, "no field 'ID'"),
        (
            {"lines": [{"sku": "a"}, {"m": 1}]},
            r"no field 'lines.m' from 'orders' \(it reads sku, n",
        ),
        ({"tags": {"x": {"on": 1}}}, r"no field 'tags.on'"),
    ],
)
def test_fields_that_are_not_read(value: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        check_fields(value, ORDER, "orders")
