"""Who may write to the topic: decided by the topic itself, so that all instances agree.

An instance that the group made its leader claims the lead with a record: a NOOP whose headers say
who it is, where it is, and in which epoch it leads. The first claim of an epoch wins. Whoever leads
puts epoch and name on all that it writes, and a record of an epoch that has passed is void to
everybody: what a leader still had on its way when it was replaced can do no harm.

Other registries know nothing of this. Their records have no such headers and always count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from headwater.registry.log_records import NoopKey

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from headwater.registry.log_records import Key

LEADER_HEADER = "headwater.leader"
URL_HEADER = "headwater.leader.url"
IDS_HEADER = "headwater.max.ids"

Headers = list[tuple[str, bytes]]


class Tenure(NamedTuple):
    """A time of leading: an epoch, and the name of the instance that leads in it."""

    epoch: int
    owner: str

    def headers(self) -> Headers:
        """Return the headers of a record written in it."""
        return [(LEADER_HEADER, f"{self.epoch}/{self.owner}".encode())]

    def claim_headers(self, url: str, max_ids: Mapping[str, int]) -> Headers:
        """Return the headers of the record that claims it.

        The largest ids go along, since compaction forgets schemas that were deleted for good, and
        what they were called must not be the name of something else.
        """
        ids = msgspec.json.encode(dict(max_ids))
        return [*self.headers(), (URL_HEADER, url.encode()), (IDS_HEADER, ids)]


class Mark(NamedTuple):
    """What a record's headers say; address and ids come with a claim only."""

    tenure: Tenure
    url: str | None = None
    max_ids: dict[str, int] | None = None


NOBODY = Tenure(0, "")


@dataclass(slots=True)
class Leadership:
    """What the records read so far say about who leads."""

    tenure: Tenure = NOBODY
    url: str | None = None

    def admit(self, key: Key, mark: Mark | None) -> bool:
        """Take note of a record and return whether it counts."""
        if mark is None:
            return True
        if isinstance(key, NoopKey) and mark.url is not None:
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
        url, ids = values.get(URL_HEADER), values.get(IDS_HEADER)
        return Mark(
            Tenure(int(epoch), owner),
            None if url is None else url.decode(),
            None if ids is None else msgspec.json.decode(ids, type=dict[str, int]),
        )
    except (ValueError, msgspec.MsgspecError):
        return None
