"""Tells others of alerts, in its own time: who does not answer holds nobody up."""

from __future__ import annotations

import json
import logging
import queue
import threading
import urllib.request
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Protocol

from headwater.monitor.alerts.alerts import RESOLVED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from confluent_kafka import Producer

    from headwater.clients.connection import Connection
    from headwater.monitor.alerts.alerts import Alert

logger = logging.getLogger("headwater.monitor")

MOST_WAITING = 1000
"""Beyond these the oldest news is given up; the log has all."""

_ANSWER_WITHIN_S = 10.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 60.0
_NOT_YET = "0001-01-01T00:00:00Z"  # as Alertmanager writes it


class Channel(Protocol):
    """One way to tell somebody."""

    name: str

    def send(self, alerts: Sequence[Alert]) -> None:
        """Tell of alerts; raises an exception if they were not taken."""

    def close(self) -> None:
        """Let go of what it holds."""


class Webhook:
    """Posts alerts as Alertmanager does (version 4), so that its receivers can be used."""

    def __init__(self, url: str) -> None:
        self.name = url
        self._url = url

    def send(self, alerts: Sequence[Alert]) -> None:
        """Tell of alerts in one request."""
        is_over = all(alert.state == RESOLVED for alert in alerts)
        document = {
            "version": "4",
            "groupKey": "headwater",
            "truncatedAlerts": 0,
            "status": "resolved" if is_over else "firing",
            "receiver": "headwater",
            "groupLabels": {},
            "commonLabels": {},
            "commonAnnotations": {},
            "externalURL": "",
            "alerts": [as_alertmanager(alert) for alert in alerts],
        }
        request = urllib.request.Request(
            self._url, json.dumps(document).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=_ANSWER_WITHIN_S) as answer:
            answer.read()

    def close(self) -> None:
        """There is nothing to let go of."""


class AlertTopic:
    """Writes each alert as a record, by the alert's fingerprint as the key."""

    def __init__(self, connection: Connection, topic: str) -> None:
        self.name = f"topic {topic}"
        self._connection = connection
        self._topic = topic
        self._producer: Producer | None = None

    def send(self, alerts: Sequence[Alert]) -> None:
        """Write alerts, and wait until they are acknowledged."""
        from confluent_kafka import KafkaException

        if self._producer is None:
            self._producer = self._connection.producer({"message.timeout.ms": 10_000})
        failures: list[Any] = []
        for alert in alerts:
            told = as_alertmanager(alert)
            self._producer.produce(
                self._topic,
                json.dumps(told).encode(),
                told["fingerprint"].encode(),
                on_delivery=lambda error, _: failures.append(error) if error else None,
            )
        self._producer.flush()
        if failures:
            raise KafkaException(failures[0])

    def close(self) -> None:
        """Close the producer."""
        self._producer = None


class Delivery:
    """A thread for each channel, which tries again until what it tells is taken."""

    def __init__(self, channels: Sequence[Channel]) -> None:
        self._workers = [_Worker(channel) for channel in channels]

    def tell(self, alerts: Sequence[Alert]) -> None:
        """Have all channels told; returns at once."""
        for alert in alerts:
            logger.warning("alert %s is %s: %s", alert.name, alert.state, alert.message)
        for worker in self._workers:
            worker.put(alerts)

    def close(self) -> None:
        """Give up what was not taken yet."""
        for worker in self._workers:
            worker.close()


class _Worker:
    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._waiting: queue.Queue[Sequence[Alert]] = queue.Queue(MOST_WAITING)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name=channel.name, daemon=True)
        self._thread.start()

    def put(self, alerts: Sequence[Alert]) -> None:
        if not alerts:
            return
        while True:
            try:
                self._waiting.put_nowait(alerts)
                return
            except queue.Full:
                self._waiting.get_nowait()

    def close(self) -> None:
        self._closing.set()
        self.put_end()
        self._thread.join()
        self._channel.close()

    def put_end(self) -> None:
        """Wake the thread."""
        try:
            self._waiting.put_nowait(())
        except queue.Full:
            return  # it is awake, with so much to do

    def _run(self) -> None:
        while not self._closing.is_set():
            alerts = self._waiting.get()
            pause_s = _FIRST_PAUSE_S
            while alerts and not self._closing.is_set():
                try:
                    self._channel.send(alerts)
                    break
                except Exception as failure:
                    # Whatever it is, others have to hear of the alert, and the next try may work.
                    logger.warning("telling %s failed: %s", self._channel.name, failure)
                    self._closing.wait(pause_s)
                    pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)


def as_alertmanager(alert: Alert) -> dict[str, Any]:
    """Return an alert as Alertmanager tells it."""
    labels = {"alertname": alert.name, "severity": alert.severity, **alert.labels}
    text = json.dumps(labels, sort_keys=True).encode()
    return {
        "status": "resolved" if alert.state == RESOLVED else "firing",
        "labels": labels,
        "annotations": {"summary": alert.message},
        "startsAt": timestamp(alert.since_s),
        "endsAt": timestamp(alert.ended_s) if alert.ended_s is not None else _NOT_YET,
        "generatorURL": "",
        "fingerprint": sha256(text).hexdigest()[:16],
    }


def timestamp(seconds: float) -> str:
    """Return a time as Prometheus writes it.

    >>> timestamp(0)
    '1970-01-01T00:00:00Z'
    """
    moment = datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)
    return f"{moment.isoformat(timespec='auto')}Z"
