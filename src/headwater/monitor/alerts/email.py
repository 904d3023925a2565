"""Sends alerts by e-mail, through a mail server that is there."""

from __future__ import annotations

import smtplib
import ssl
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from headwater.monitor.alerts.alerts import RESOLVED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.monitor.alerts.alerts import Alert

_ANSWER_WITHIN_S = 10.0
_PORT = 25


@dataclass(frozen=True)
class MailServer:
    """Where mail is handed in, and as whom."""

    address: str
    starttls: bool = False
    username: str | None = None
    password: str | None = None


class Email:
    """A mail for all alerts of a look."""

    def __init__(self, server: MailServer, sender: str, recipients: Sequence[str]) -> None:
        self.name = f"e-mail to {', '.join(recipients)}"
        self._server = server
        self._sender = sender
        self._recipients = tuple(recipients)

    def send(self, alerts: Sequence[Alert]) -> None:
        """Hand a mail in; raises OSError, SMTPException among them, if it was not taken."""
        place = urlsplit(f"//{self._server.address}")
        with smtplib.SMTP(
            place.hostname or "", place.port or _PORT, timeout=_ANSWER_WITHIN_S
        ) as server:
            if self._server.starttls:
                server.starttls(context=ssl.create_default_context())
            if self._server.username is not None:
                server.login(self._server.username, self._server.password or "")
            server.send_message(self._message(alerts))

    def close(self) -> None:
        """There is nothing to let go of."""

    def _message(self, alerts: Sequence[Alert]) -> EmailMessage:
        message = EmailMessage()
        message["From"] = self._sender
        message["To"] = ", ".join(self._recipients)
        message["Date"] = formatdate()
        message["Message-ID"] = make_msgid(domain="headwater")
        first, others = alerts[0], len(alerts) - 1
        more = f" and {others} more" if others else ""
        message["Subject"] = f"[{_word(first)}] {first.name}{more}"
        message.set_content("\n".join(_line(alert) for alert in alerts) + "\n")
        return message


def _word(alert: Alert) -> str:
    return "RESOLVED" if alert.state == RESOLVED else alert.severity.upper()


def _line(alert: Alert) -> str:
    labels = ", ".join(f"{name}={value}" for name, value in alert.labels.items())
    return f"{_word(alert)} {alert.name}: {alert.message} ({labels})"
