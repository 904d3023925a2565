"""Which transforms there are, by class name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.config import ConfigError
from headwater.connect.transforms.cast import Cast
from headwater.connect.transforms.debezium.event_router import EventRouter
from headwater.connect.transforms.debezium.new_record_state import ExtractNewRecordState
from headwater.connect.transforms.drop_headers import DropHeaders
from headwater.connect.transforms.extract_field import ExtractField
from headwater.connect.transforms.filter import Filter
from headwater.connect.transforms.flatten import Flatten
from headwater.connect.transforms.header_from import HeaderFrom
from headwater.connect.transforms.hoist_field import HoistField
from headwater.connect.transforms.insert_field import InsertField
from headwater.connect.transforms.insert_header import InsertHeader
from headwater.connect.transforms.mask_field import MaskField
from headwater.connect.transforms.python_function import PythonFunction
from headwater.connect.transforms.regex_router import RegexRouter
from headwater.connect.transforms.replace_field import ReplaceField
from headwater.connect.transforms.set_schema_metadata import SetSchemaMetadata
from headwater.connect.transforms.timestamp_converter import TimestampConverter
from headwater.connect.transforms.timestamp_router import TimestampRouter
from headwater.connect.transforms.value_to_key import ValueToKey

if TYPE_CHECKING:
    from headwater.connect.transforms.transform import Transform

TRANSFORMS: tuple[type[Transform], ...] = (
    Cast,
    DropHeaders,
    ExtractField,
    Filter,
    Flatten,
    HeaderFrom,
    HoistField,
    InsertField,
    InsertHeader,
    MaskField,
    RegexRouter,
    ReplaceField,
    SetSchemaMetadata,
    TimestampConverter,
    TimestampRouter,
    ValueToKey,
    ExtractNewRecordState,
    EventRouter,
    PythonFunction,
)
_BY_NAME = {name: each for each in TRANSFORMS for name in each.class_names}


def transform_class(class_name: str, setting: str) -> type[Transform]:
    """Return the transform of a class name; raises ConfigError, which may know a like name."""
    found = _BY_NAME.get(class_name)
    if found is not None:
        return found
    if f"{class_name}$Value" in _BY_NAME:
        hint = f"it is {class_name}$Key or {class_name}$Value"
    else:
        from difflib import get_close_matches

        close = get_close_matches(class_name, _BY_NAME, n=1, cutoff=0.6)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(_BY_NAME)}"
    raise ConfigError(setting, class_name, f"there is no such transform; {hint}")
