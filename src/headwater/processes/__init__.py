"""Processes of this machine: children with their output and their end, ports, guards, folders.

The platform (`headwater.up`), Apache Kafka's nodes (`headwater.cluster`), the demo and the plant
are all built on it.
"""
