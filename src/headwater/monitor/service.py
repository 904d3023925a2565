"""What the monitor's routes are about: a cluster, what is wrong with it, and who is told."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from headwater.clients.connection import Connection
from headwater.monitor.alerts.alerts import AlertBook
from headwater.monitor.alerts.delivery import AlertTopic, Delivery, Webhook
from headwater.monitor.alerts.email import Email
from headwater.monitor.cluster_monitor import ClusterMonitor

if TYPE_CHECKING:
    from headwater.monitor.alerts.delivery import Channel
    from headwater.monitor.config import MonitorConfig


class MonitorService:
    """Checks the rules after each look."""

    def __init__(self, config: MonitorConfig) -> None:
        self.cluster = ClusterMonitor(config)
        self.rules = config.rules
        self.alerts = AlertBook(config.rules, config.cluster_name)
        self._delivery = Delivery(_channels(config))
        self.cluster.after_each_look(self._check)

    async def start(self) -> None:
        """Look at the cluster for the first time, and from now on."""
        await self.cluster.start()

    async def stop(self) -> None:
        """Look no more, and tell no more."""
        await self.cluster.stop()
        self._delivery.close()

    def _check(self) -> None:
        changed = self.alerts.take(self.cluster.latest, self.cluster.failure, time.time())
        self._delivery.tell(changed)


def _channels(config: MonitorConfig) -> list[Channel]:
    channels: list[Channel] = []
    if config.webhook is not None:
        channels.append(Webhook(config.webhook))
    if config.alert_topic is not None:
        channels.append(AlertTopic(Connection(config.access), config.alert_topic))
    if config.mail_server is not None:
        channels.append(Email(config.mail_server, config.mail_from, config.mail_to))
    return channels
