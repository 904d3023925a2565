"""The broker's settings: what they are, where their values come from and what they mean."""

from headwater.broker.config.broker_config import BrokerConfig
from headwater.broker.config.layers import ConfigSource
from headwater.broker.config.listeners import Endpoint

__all__ = ["BrokerConfig", "ConfigSource", "Endpoint"]
