"""What it takes to run processes here: ports of their own, a guard, and telling one from another.

The platform (`headwater.up`) and Apache Kafka's nodes (`headwater.cluster`) are both built on it.
"""
