"""The other engine: Apache Kafka itself, fetched, configured, started and stopped from Python.

from headwater.cluster import KafkaCluster

with KafkaCluster(directory, brokers=3) as cluster:
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    cluster.kill_node(2)
"""

from headwater.cluster.cluster import KafkaCluster
from headwater.cluster.control import ClusterControl, NodeStatus
from headwater.cluster.directory import ClusterDirectory
from headwater.cluster.errors import ClusterError
from headwater.cluster.kafka import VERSION
from headwater.cluster.node import Node, NodeOptions

__all__ = [
    "VERSION",
    "ClusterControl",
    "ClusterDirectory",
    "ClusterError",
    "KafkaCluster",
    "Node",
    "NodeOptions",
    "NodeStatus",
]
