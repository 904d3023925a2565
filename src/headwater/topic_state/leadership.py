"""Who may write to the topic: decided by the topic itself, so that all instances agree.

An instance that the group made its leader claims the lead with a record: one without a value, whose
headers say who it is, where it is, and in which epoch it leads. The first claim of an epoch wins.
Whoever leads puts epoch and name on all that it writes, and a record of an epoch that has passed is
void to everybody: what a leader still had on its way when it was replaced can do no harm.

Other programs know nothing of this. Their records have no such headers and always count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

LEADER_HEADER = "headwater.leader"
URL_HEADER = "headwater.leader.url"

Headers = list[tuple[str, bytes]]


class Tenure(NamedTuple):
    """A time of leading: an epoch, and the name of the instance that leads in it."""

    epoch: int
    owner: str

    def headers(self) -> Headers:
        """Return the headers of a record written in it."""
        return [(LEADER_HEADER, f"{self.epoch}/{self.owner}".encode())]

    def claim_headers(self, url: str) -> Headers:
        """Return the headers of the record that claims it."""
        return [*self.headers(), (URL_HEADER, url.encode())]


class Mark(NamedTuple):
    """What a record's headers say about its writer; the address comes with a claim only."""

    tenure: Tenure
    url: str | None = None


NOBODY = Tenure(0, "")


@dataclass(slots=True)
class Leadership:
    """What the records read so far say about who leads."""

    claim_key: bytes
    tenure: Tenure = NOBODY
    url: str | None = None

    def admit(self, key: bytes | None, mark: Mark | None) -> bool:
        """Take note of a record and return whether it counts."""
        if mark is None:
            return True
        if key == self.claim_key and mark.url is not None:
            if mark.tenure.epoch <= self.tenure.epoch and mark.tenure != self.tenure:
                return False
            self.tenure, self.url = mark.tenure, mark.url
            return True
        if mark.tenure.epoch > self.tenure.epoch:
            # Its claim was compacted away. It was the first, or this would not have been written.
            self.tenure, self.url = mark.tenure, None
        return mark.tenure.epoch == self.tenure.epoch


def read_mark(headers: Iterable[tuple[str, bytes | str | None]] | None) -> Mark | None:
    """Return what a record's headers say about its writer; None for one that says nothing."""
    values = {name: value for name, value in headers or () if isinstance(value, bytes)}
    leader = values.get(LEADER_HEADER)
    if leader is None:
        return None
    try:
        epoch, _, owner = leader.decode().partition("/")
        url = values.get(URL_HEADER)
        return Mark(Tenure(int(epoch), owner), None if url is None else url.decode())
    except ValueError:
        return None
