"""Look-ups: stores on this machine that follow the topics of tables.

    from headwater.stores import FollowedTable, open_store

    units = FollowedTable("units", "units", Side("string", STRING), Side("json", type_))
    with open_store(units, ClusterAccess("localhost:9092"), Path("stores")) as store:
        store.get("sensor-7")

Programs get theirs by name from `App.store`. Nothing here knows Spark.
"""

from headwater.stores.bounds import Bound
from headwater.stores.errors import (
    PositionNotReachedError,
    StoreClosedError,
    StoreError,
    StoreInUseError,
    StoreLoadingError,
    StoreValueError,
    UnknownStoreError,
    UnsupportedKeyError,
)
from headwater.stores.key_value import KeyValueStore
from headwater.stores.opening import Stores, open_store
from headwater.stores.position import Position
from headwater.stores.table import FollowedTable, Side
from headwater.stores.windows import Window, WindowStore

__all__ = [
    "Bound",
    "FollowedTable",
    "KeyValueStore",
    "Position",
    "PositionNotReachedError",
    "Side",
    "StoreClosedError",
    "StoreError",
    "StoreInUseError",
    "StoreLoadingError",
    "StoreValueError",
    "Stores",
    "UnknownStoreError",
    "UnsupportedKeyError",
    "Window",
    "WindowStore",
    "open_store",
]
