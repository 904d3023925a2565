"""People who move, and their eCH-0020 events as XML."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from xml.sax.saxutils import escape


class Event(StrEnum):
    """What happened, by the name that eCH-0020 has for it."""

    MOVE_IN = "moveIn"
    MOVE_OUT = "moveOut"


@dataclass(frozen=True)
class Person:
    """Somebody whom the office knows."""

    identifier: str
    official_name: str
    first_name: str
    sex: int
    born: str


AGENT = Person("agent-0007", "Doppelgänger", "Max", 1, "1979-11-07")
OTHERS = (
    Person("anna-1", "Keller", "Anna", 2, "1984-05-02"),
    Person("beat-2", "Frei", "Beat", 1, "1991-09-17"),
    Person("cla-3", "Camenisch", "Cla", 1, "1968-01-30"),
    Person("dora-4", "Weber", "Dora", 2, "2001-12-24"),
)


def xml(person: Person, event: Event) -> str:
    """Return the delivery that tells of an event.

    >>> "<eCH-0020:moveIn>" in xml(AGENT, Event.MOVE_IN)
    True
    """
    return (
        '<eCH-0020:delivery xmlns:eCH-0020="http://www.ech.ch/xmlns/eCH-0020/3" '
        'xmlns:eCH-0044="http://www.ech.ch/xmlns/eCH-0044/4" version="3.0">'
        f"<eCH-0020:{event}><eCH-0020:{event}Person><eCH-0020:personIdentification>"
        f"<eCH-0044:officialName>{escape(person.official_name)}</eCH-0044:officialName>"
        f"<eCH-0044:firstName>{escape(person.first_name)}</eCH-0044:firstName>"
        f"<eCH-0044:sex>{person.sex}</eCH-0044:sex>"
        f"<eCH-0044:dateOfBirth><eCH-0044:yearMonthDay>{person.born}</eCH-0044:yearMonthDay>"
        "</eCH-0044:dateOfBirth>"
        f"</eCH-0020:personIdentification></eCH-0020:{event}Person></eCH-0020:{event}>"
        "</eCH-0020:delivery>"
    )
