"""The office's register: a table of events in a MariaDB."""

from __future__ import annotations

from typing import TYPE_CHECKING

from examples.mariadb import MariaDb
from examples.witness.people import Event, Person, xml

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.processes.guard import Guard

DATABASE = "events"
USER = PASSWORD = "kafka-training"
_TABLE = """
CREATE TABLE events (
  ID INT NOT NULL AUTO_INCREMENT,
  XML_EVENT MEDIUMTEXT,
  CREATETIME TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PERSON_IDENTIFIER VARCHAR(255),
  PRIMARY KEY (ID)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
"""


class Register:
    """What happened to whom, one row for each event."""

    def __init__(self, directory: Path, guard: Guard | None = None) -> None:
        self.server = MariaDb(
            directory, database=DATABASE, user=USER, password=PASSWORD, guard=guard
        )
        self.server.start()
        self.server.run(_TABLE)

    @property
    def url(self) -> str:
        """The address for JDBC, in the form that the lab has it."""
        return self.server.url.replace("jdbc:mariadb:", "jdbc:mysql:")

    def enter(self, person: Person, event: Event) -> None:
        """Add a row."""
        # No name or event here has a quote or a backslash in it: XML has them escaped.
        self.server.run(
            "INSERT INTO events (XML_EVENT, PERSON_IDENTIFIER) "
            f"VALUES ('{xml(person, event)}', '{person.identifier}')"
        )

    def rows(self) -> list[tuple[int, str, Event]]:
        """Return the number, the person and the event of each row."""
        found = self.server.run(
            "SELECT ID, PERSON_IDENTIFIER, XML_EVENT LIKE '%<eCH-0020:moveIn>%' FROM events "
            "ORDER BY ID"
        )
        return [
            (int(number), person, Event.MOVE_IN if moved_in == "1" else Event.MOVE_OUT)
            for number, person, moved_in in found
        ]

    def close(self) -> None:
        """Stop the server."""
        self.server.stop()
