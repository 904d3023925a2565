"""The broker's settings: what they are, where their values come from and what they mean."""

from headwater.broker.config.broker_config import BrokerConfig
from headwater.broker.config.layers import ConfigSource
from headwater.broker.config.listeners import Endpoint
from headwater.log.config_def import ConfigError, UnknownSettingError

__all__ = ["BrokerConfig", "ConfigError", "ConfigSource", "Endpoint", "UnknownSettingError"]
