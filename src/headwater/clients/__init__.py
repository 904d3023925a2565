"""Who connects to a cluster and to a registry, with which credentials, for every client library.

`ClusterAccess` and `RegistryAccess` say where and as whom; `connection` makes confluent-kafka's
clients, and `raw` sends the requests that no client library has.
"""

from headwater.clients.cluster_access import ClusterAccess
from headwater.clients.errors import ClientError, InvalidPropertiesError
from headwater.clients.registry_access import RegistryAccess

__all__ = ["ClientError", "ClusterAccess", "InvalidPropertiesError", "RegistryAccess"]
