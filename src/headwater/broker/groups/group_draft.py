"""A change of a group that is being worked out: nothing of it counts before it is in the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.broker.groups.consumer.group import ConsumerGroup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from headwater.broker.groups.classic.group import ClassicGroup
    from headwater.broker.groups.consumer.records import Change
    from headwater.broker.groups.record_fields import CoordinatorRecord


class GroupDraft:
    """A group with changes on top of it, and the records that make them last."""

    def __init__(self, before: ConsumerGroup) -> None:
        self.before = before
        """The group as it is."""
        self.group = before
        """The group as it will be."""
        self.records: list[CoordinatorRecord] = []
        self.lost_members = False
        self.downgraded: ClassicGroup | None = None
        """Takes the group's place, if it goes back to the classic protocol."""
        self._after: list[Callable[[], None]] = []

    @classmethod
    def of_new_group(cls, group_id: str, records: Iterable[CoordinatorRecord] = ()) -> GroupDraft:
        """Return a draft of a group that does not exist yet."""
        draft = cls(ConsumerGroup(group_id))
        draft.records += records
        return draft

    def add(self, change: Change) -> None:
        """Change the draft, and only the draft."""
        if self.group is self.before:
            self.group = self.before.copy()
        self.group.apply(change)
        self.records.append(change.record())

    def write(self, record: CoordinatorRecord) -> None:
        """Add a record that does not change this group."""
        self.records.append(record)

    def then(self, action: Callable[[], None]) -> None:
        """Do something once the draft has become the group."""
        self._after.append(action)

    def finish(self) -> None:
        """Do what was left for later."""
        for action in self._after:
            action()
