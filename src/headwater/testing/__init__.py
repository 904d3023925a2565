"""What users put in their own tests: a broker in this process, and a pytest fixture.

    from headwater.testing import Broker

    with Broker() as broker:
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers})

The pytest fixture `kafka_broker` gives each test such a broker.
"""

from headwater.testing.broker import Broker

__all__ = ["Broker"]
