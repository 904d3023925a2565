"""The audit log that a broker's settings ask for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from headwater.config import ConfigError

if TYPE_CHECKING:
    from headwater.broker.audit.audit_log import AuditLog
    from headwater.broker.broker import Broker

_FILE = "headwater.audit.file"


def audit_log_of(broker: Broker) -> AuditLog | None:
    """Return the audit log, or None without one; raises ConfigError if it cannot be written."""
    config = broker.config
    path, topic = config.text(_FILE), config.text("headwater.audit.topic")
    if path is None and topic is None:
        return None
    from headwater.broker.audit.audit_log import AuditLog
    from headwater.broker.audit.audit_topic import AuditTopic
    from headwater.logs.audit_file import AuditFile

    file = None
    if path is not None:
        try:
            file = AuditFile(
                Path(path).expanduser(),
                config.integer("headwater.audit.file.max.bytes"),
                config.integer("headwater.audit.file.backups"),
            )
        except OSError as failure:
            raise ConfigError(_FILE, path, failure.strerror or str(failure)) from None
    return AuditLog(
        file,
        None if topic is None else AuditTopic(broker, topic),
        config.integer("headwater.audit.sample.interval.ms") / 1000,
    )
