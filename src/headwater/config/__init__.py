"""One way to define, read, document and check a setting, for every service.

A service writes its settings down as `Definitions`, reads what an operator gave with
`config.sources`, and asks `Values`:

>>> from headwater.config.sources import from_environment, from_options
>>> REST = Definitions(
...     "rest",
...     ConfigDef("port", ConfigType.INT, 8082, "The port to listen on.", between(0, 65535)),
... )
>>> given = from_environment({"HEADWATER_REST_PORT": "80"}, REST)
>>> given |= from_options({"port": "81"}, "--property")
>>> Values(REST, given).integer("port")
81
"""

from headwater.config.definition import ConfigDef, Importance, UpdateMode
from headwater.config.definitions import Definitions
from headwater.config.errors import ConfigError, MissingSettingError, UnknownSettingError
from headwater.config.types import DOUBLE_MAX, INT_MAX, LONG_MAX, ConfigType, Value
from headwater.config.validators import (
    NOT_EMPTY,
    Validator,
    at_least,
    between,
    either,
    list_of,
    one_of,
    one_of_any_case,
)
from headwater.config.values import Values

__all__ = [
    "DOUBLE_MAX",
    "INT_MAX",
    "LONG_MAX",
    "NOT_EMPTY",
    "ConfigDef",
    "ConfigError",
    "ConfigType",
    "Definitions",
    "Importance",
    "MissingSettingError",
    "UnknownSettingError",
    "UpdateMode",
    "Validator",
    "Value",
    "Values",
    "at_least",
    "between",
    "either",
    "list_of",
    "one_of",
    "one_of_any_case",
]
