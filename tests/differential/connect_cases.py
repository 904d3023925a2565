"""Settings of transforms, and random records for them, with a schema and without."""

from __future__ import annotations

import json
import random
from typing import Any

from headwater.connect.converters.json_schemas import as_json_schema, unscaled_bytes
from headwater.connect.data import schema as connect
from headwater.connect.data.schema import Schema, Type, struct

KAFKA = "org.apache.kafka.connect.transforms"
TAGS = Schema(Type.ARRAY, value=Schema(Type.STRING))
INNER = struct(
    {
        "street": Schema(Type.STRING),
        "number": Schema(Type.INT32, optional=True),
        "place": struct(
            {"zip": Schema(Type.INT16), "tags": Schema(Type.ARRAY, value=Schema(Type.STRING))}
        ),
    },
    name="address",
)
VALUE = Schema(
    Type.STRUCT,
    name="person",
    version=3,
    doc="somebody",
    fields=struct(
        {
            "id": Schema(Type.INT64),
            "small": Schema(Type.INT8, optional=True),
            "count": Schema(Type.INT32, optional=True, default=7),
            "ratio": Schema(Type.FLOAT64, optional=True),
            "half": Schema(Type.FLOAT32, optional=True),
            "good": Schema(Type.BOOLEAN, optional=True),
            "name": Schema(Type.STRING, optional=True, default="nobody"),
            "digits": Schema(Type.STRING, optional=True),
            "when": Schema(Type.STRING, optional=True),
            "data": Schema(Type.BYTES, optional=True),
            "born": connect.date(optional=True),
            "daily": connect.time(optional=True),
            "seen": connect.timestamp(optional=True),
            "unix": Schema(Type.INT64, optional=True),
            "price": connect.decimal(2, optional=True),
            "address": INNER.as_optional(),
            "list": Schema(Type.ARRAY, optional=True, value=Schema(Type.INT32, optional=True)),
        }
    ).fields,
)
KEY = struct({"id": Schema(Type.INT32), "name": Schema(Type.STRING, optional=True)}, name="key")


def transforms(name: str, **settings: str) -> dict[str, str]:
    """Return a transform's settings, where `_` stands for a dot."""
    return {"type": f"{KAFKA}.{name}"} | {k.replace("_", "."): v for k, v in settings.items()}


def moments(field: str, target: str, format_: str = "", **settings: str) -> dict[str, str]:
    """Return the settings of a TimestampConverter."""
    return transforms(
        "TimestampConverter$Value", field=field, target_type=target, format=format_, **settings
    )


TO_THE_SECOND = "yyyy-MM-dd'T'HH:mm:ss"
BOTH = (
    transforms("Cast$Value", spec="id:int8,ratio:int32,half:int64,good:int16,digits:int32"),
    transforms("Cast$Value", spec="id:string,ratio:string,good:string,count:string,small:float64"),
    transforms("Cast$Value", spec="id:boolean,ratio:boolean,digits:boolean,name:boolean"),
    transforms("Cast$Value", spec="id:int16,ratio:int8,count:int8,small:int64,digits:int64"),
    transforms("Cast$Value", spec="digits:float64,id:float32,ratio:float32"),
    transforms("Cast$Key", spec="id:string"),
    transforms("DropHeaders", headers="a,c"),
    transforms("ExtractField$Value", field="address"),
    transforms("ExtractField$Value", field="name"),
    transforms("ExtractField$Key", field="id"),
    transforms("ExtractField$Value", field="address.place.zip", field_syntax_version="V2"),
    transforms("Flatten$Value"),
    transforms("Flatten$Value", delimiter="_"),
    transforms("Filter"),
    transforms("HeaderFrom$Value", fields="id,name", headers="h1,h2", operation="move"),
    transforms("HeaderFrom$Value", fields="good,digits", headers="a,b", operation="copy"),
    transforms("HeaderFrom$Key", fields="id", headers="key", operation="copy"),
    transforms("HoistField$Value", field="it"),
    transforms("HoistField$Key", field="it"),
    transforms("InsertField$Value", topic_field="t", partition_field="p!", offset_field="o?"),
    transforms("InsertField$Value", timestamp_field="ts", static_field="s", static_value="it's"),
    transforms("InsertField$Key", topic_field="t"),
    transforms("InsertHeader", header="new", value_literal="some text"),
    transforms("MaskField$Value", fields="id,ratio,name,good,list,small"),
    transforms("MaskField$Value", fields="id,count", replacement="42"),
    transforms("MaskField$Value", fields="name,digits", replacement="x's"),
    transforms("RegexRouter", regex="(.*)-(\\d+)", replacement="$2_$1"),
    transforms("RegexRouter", regex=".*", replacement="all"),
    transforms("RegexRouter", regex="t|topic-.*", replacement="x"),
    transforms("ReplaceField$Value", exclude="id,address", renames="name:called,good:is_good"),
    transforms("ReplaceField$Value", include="id,name", renames="id:nr"),
    transforms("ReplaceField$Key", renames="id:nr"),
    moments("unix", "string", "yyyy-MM-dd HH:mm:ss.SSS"),
    moments("unix", "unix", unix_precision="seconds"),
    moments("when", "unix", TO_THE_SECOND, unix_precision="microseconds"),
    moments("when", "string", TO_THE_SECOND),
    transforms("TimestampRouter"),
    transforms(
        "TimestampRouter",
        topic_format="a-${topic}-${timestamp}-${topic}",
        timestamp_format="yyyy-MM-dd'T'HH",
    ),
    transforms("ValueToKey", fields="id,name"),
    transforms("ValueToKey", fields="address"),
)
"""Those that take records with a schema and without."""
WITH_SCHEMA = (
    transforms("Cast$Value", spec="seen:int64,born:int32,daily:string,price:float64,data:string"),
    transforms("Cast$Value", spec="seen:string,born:string,price:int32,count:string"),
    transforms("Cast$Value", spec="count:int64,name:string", replace_null_with_default="false"),
    transforms("ExtractField$Value", field="count", replace_null_with_default="false"),
    transforms("InsertField$Value", topic_field="id"),
    transforms("MaskField$Value", fields="seen,born,daily,count"),
    transforms("MaskField$Value", fields="half,small", replacement="300.25"),
    transforms("MaskField$Value", fields="data"),
    transforms("SetSchemaMetadata$Value", schema_name="other", schema_version="9"),
    transforms("SetSchemaMetadata$Key", schema_name="other"),
    transforms("HeaderFrom$Value", fields="seen,data,ratio", headers="a,b,c", operation="copy"),
    transforms("ValueToKey", fields="missing"),
    transforms("ValueToKey", fields="count,name", replace_null_with_default="false"),
    *(
        moments(field, target, "yyyy-MM-dd'T'HH:mm:ss.SSSXXX")
        for field in ("born", "daily", "seen", "unix")
        for target in ("string", "unix", "Date", "Time", "Timestamp")
    ),
    moments("id", "unix"),
    moments("small", "unix"),
)
CHAINS = (
    (transforms("ValueToKey", fields="id"), transforms("ExtractField$Key", field="id")),
    (
        transforms("Flatten$Value", delimiter="_"),
        transforms("ReplaceField$Value", renames="address_place_zip:zip"),
        transforms("Cast$Value", spec="zip:string"),
        transforms("InsertField$Value", topic_field="topic"),
        transforms("RegexRouter", regex="(.*)-.*", replacement="$1"),
    ),
)


def records(seed: int, count: int, *, schemas: bool) -> list[dict[str, Any]]:
    """Return records of a topic, with keys and values as JsonConverter reads them."""
    random_ = random.Random(seed)
    return [_record(random_, offset, schemas=schemas) for offset in range(count)]


def _record(random_: random.Random, offset: int, *, schemas: bool) -> dict[str, Any]:
    is_tombstone = random_.random() < 0.1
    return {
        "topic": random_.choice(["topic-1", "topic", "t-20-3"]),
        "partition": random_.randrange(5),
        "offset": offset,
        "key": _text(_random_value(random_, KEY), KEY, schemas=schemas),
        "value": None
        if is_tombstone
        else _text(_random_value(random_, VALUE), VALUE, schemas=schemas),
        "headers": [[name, random_.choice("xy")] for name in "abc" if random_.random() < 0.5],
        "timestamp": random_.choice([None, 0, 1_700_000_000_123, random_.randrange(2 * 10**12)]),
    }


def _text(value: Any, schema: Schema, *, schemas: bool) -> str:
    return json.dumps({"schema": as_json_schema(schema), "payload": value} if schemas else value)


def _random_value(random_: random.Random, schema: Schema) -> Any:
    """Return a value as JSON has it."""
    if schema.optional and random_.random() < 0.2:
        return None
    match schema.type:
        case Type.STRUCT:
            return {each.name: _field(random_, each.name, each.schema) for each in schema.fields}
        case Type.ARRAY:
            assert schema.value is not None
            return [_random_value(random_, schema.value) for _ in range(random_.randrange(3))]
        case Type.STRING:
            return random_.choice(["", "true", "TRUE", "12", 'it\'s \\ "x"', "Zürich 🏔", "-5"])
        case Type.BOOLEAN:
            return random_.random() < 0.5
        case Type.FLOAT32:
            return random_.choice([0.5, -2.75, 1e10, 3.0])
        case Type.FLOAT64:
            return random_.choice([0.1, -1e-5, 3e9, 1e20, 300.7, random_.uniform(-1e6, 1e6)])
        case Type.BYTES:
            return _bytes(random_, schema)
    return _integer(random_, schema)


def _field(random_: random.Random, name: str, schema: Schema) -> Any:
    if name == "digits":
        return random_.choice(["12", "-7", "+3", "99999999999", "abc", "", "1.5", " 4", None])
    if name == "when":
        return random_.choice(["2020-02-29T12:00:00", "1969-12-31T23:59:59", None, "x"])
    if name == "unix":
        return random_.choice([0, 1_700_000_000_123, -1, None, random_.randrange(10**13)])
    return _random_value(random_, schema)


def _bytes(random_: random.Random, schema: Schema) -> str:
    import base64
    from decimal import Decimal

    if schema.logical:
        number = Decimal(random_.randrange(-(10**7), 10**7)).scaleb(-2)
        return base64.b64encode(unscaled_bytes(number, 2)).decode()
    return base64.b64encode(random_.randbytes(random_.randrange(5))).decode()


def _integer(random_: random.Random, schema: Schema) -> int:
    match schema.logical:
        case connect.DATE:
            return random_.randrange(-1000, 30000)
        case connect.TIME:
            return random_.randrange(86_400_000)
        case connect.TIMESTAMP:
            return random_.choice([0, 86_400_000, random_.randrange(-(10**10), 10**13)])
    bits = {Type.INT8: 8, Type.INT16: 16, Type.INT32: 32, Type.INT64: 64}[schema.type]
    high = 1 << (bits - 1)
    return random_.choice([0, 1, -1, high - 1, -high, random_.randrange(-high, high)])
