"""Commit, fetch, delete and expire offsets of the groups of a shard."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from headwater.broker.groups.classic.group import ClassicGroup, ClassicState
from headwater.broker.groups.consumer.group import ConsumerGroup
from headwater.broker.groups.environment import Producer, commit_error
from headwater.broker.groups.offsets.messages import (
    DEFAULT_RETENTION,
    CommitReply,
    CommitRequest,
    CommitResult,
    DeleteOffsetsReply,
    DeleteOffsetsResult,
    FetchedOffset,
    FetchOffsetsReply,
    FetchOffsetsRequest,
    FetchOffsetsResult,
    OffsetToCommit,
)
from headwater.broker.groups.offsets.records import (
    NO_TIMESTAMP,
    CommittedOffset,
    OffsetKey,
    offset_record,
)
from headwater.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from headwater.broker.groups.record_fields import CoordinatorRecord
    from headwater.broker.groups.shard import Group, GroupShard

_FIRST_COMMIT_VERSION_WITH_EPOCHS = 9

Pending = list[tuple[OffsetKey, CommittedOffset]]


class OffsetRequests:
    """Answers what is asked about the offsets of a shard."""

    def __init__(self, shard: GroupShard) -> None:
        self._shard = shard
        self._settings = shard.environment.settings
        self._journal = shard.environment.journal
        self._now_ms = shard.environment.now_ms

    def commit(self, request: CommitRequest, reply: CommitReply) -> None:
        """OffsetCommit."""
        try:
            self._check_commit(request)
        except KafkaError as refusal:
            reply(CommitResult(refusal.code))
            return
        errors, commits = self._to_store(request)
        if not commits:
            reply(CommitResult(partitions=errors))
            return

        def on_appended(first_offset: int) -> None:
            self._group_for_commit(request.group_id)
            for position, (key, committed) in enumerate(commits):
                record_offset = first_offset + position
                self._shard.offsets.put(key, committed._replace(record_offset=record_offset))

        def on_stored(error: ErrorCode) -> None:
            reply(CommitResult(commit_error(error)) if error else CommitResult(partitions=errors))

        records = [offset_record(key, committed) for key, committed in commits]
        self._journal.enqueue(records, on_appended, on_stored)

    def commit_in_transaction(
        self, request: CommitRequest, producer: Producer, reply: CommitReply
    ) -> None:
        """TxnOffsetCommit: the offsets count when the producer's transaction is committed."""
        try:
            self._check_transactional_commit(request)
            errors, commits = self._to_store(request)
            records = [offset_record(key, committed) for key, committed in commits]
            if not records:
                reply(CommitResult(partitions=errors))
                return

            def on_stored(error: ErrorCode) -> None:
                done = CommitResult(partitions=errors)
                reply(CommitResult(commit_error(error)) if error else done)

            first_offset = self._journal.append(records, on_stored, producer)
        except KafkaError as refusal:
            reply(CommitResult(commit_error(refusal.code)))
            return
        self._group_for_commit(request.group_id)
        self._shard.offsets.prepare_txn_commit(
            producer.producer_id,
            [
                (key, committed._replace(record_offset=first_offset + position))
                for position, (key, committed) in enumerate(commits)
            ],
        )

    def fetch(self, request: FetchOffsetsRequest, reply: FetchOffsetsReply) -> None:
        """OffsetFetch. What is not safe yet is not told: a crash could take it back."""
        group = self._shard.groups.get(request.group_id)
        try:
            if isinstance(group, ConsumerGroup):
                _check_fetch(group, request)
        except KafkaError as refusal:
            reply(FetchOffsetsResult(refusal.code))
            return

        def on_stored(error: ErrorCode) -> None:
            reply(FetchOffsetsResult(error) if error else self._fetched(request))

        self._journal.when_stored(on_stored)

    def delete(
        self, group_id: str, wanted: Mapping[str, Iterable[int]], reply: DeleteOffsetsReply
    ) -> None:
        """OffsetDelete: forget offsets of topics that no member reads."""
        group = self._shard.groups.get(group_id)
        if group is None:
            reply(DeleteOffsetsResult(ErrorCode.GROUP_ID_NOT_FOUND))
            return
        if isinstance(group, ClassicGroup) and not group.is_empty and not group.is_of_consumers:
            reply(DeleteOffsetsResult(ErrorCode.NON_EMPTY_GROUP))
            return
        errors: dict[tuple[str, int], ErrorCode] = {}
        doomed: list[OffsetKey] = []
        for topic, partitions in wanted.items():
            is_read = group.is_subscribed_to(topic)
            for partition in partitions:
                code = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC if is_read else ErrorCode.NONE
                errors[topic, partition] = code
                key = OffsetKey(group_id, topic, partition)
                if not is_read and self._is_there(key):
                    doomed.append(key)

        def on_stored(error: ErrorCode) -> None:
            reply(DeleteOffsetsResult(error) if error else DeleteOffsetsResult(partitions=errors))

        self._shard.append(_tombstones(doomed), partial(self._remove, doomed), on_stored)

    def forget_topic(self, topic: str) -> None:
        """Forget all offsets of a topic that was deleted."""
        doomed = self._shard.offsets.keys_of_topic(topic)
        self._shard.append(_tombstones(doomed), partial(self._remove, doomed), lambda _: None)

    def expire(self) -> None:
        """Forget what nobody has needed for `offsets.retention.minutes`, and groups without it."""
        for group in tuple(self._shard.groups.values()):
            offsets = self._shard.offsets
            doomed = [
                key for key in offsets.keys_of_group(group.group_id) if self._is_old(group, key)
            ]
            self._shard.append(_tombstones(doomed), partial(self._remove, doomed), lambda _: None)
            has_waiting = isinstance(group, ClassicGroup) and group.pending_joins
            has_offsets = offsets.of_group(group.group_id)
            is_open = offsets.has_open_transaction(group.group_id)
            if group.is_empty and not has_waiting and not has_offsets and not is_open:
                self._shard.remove([group], lambda _: None)

    def _check_commit(self, request: CommitRequest) -> None:
        group = self._shard.groups.get(request.group_id)
        if group is None:
            if request.generation < 0:
                return  # A consumer that assigns partitions itself and only keeps offsets here.
            if request.version >= _FIRST_COMMIT_VERSION_WITH_EPOCHS:
                raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND)
            raise KafkaError(ErrorCode.ILLEGAL_GENERATION)
        if isinstance(group, ClassicGroup):
            self._shard.classic.check_commit(
                group, request.member_id, request.instance_id, request.generation
            )
        else:
            _check_consumer_commit(group, request)

    def _check_transactional_commit(self, request: CommitRequest) -> None:
        group = self._shard.groups.get(request.group_id)
        if group is None:
            if request.generation >= 0:
                raise KafkaError(ErrorCode.ILLEGAL_GENERATION)
        elif isinstance(group, ClassicGroup):
            self._shard.classic.check_commit(
                group,
                request.member_id,
                request.instance_id,
                request.generation,
                is_transactional=True,
            )
        elif request.generation != -1 or request.member_id or request.instance_id is not None:
            try:
                _check_consumer_commit(group, request, is_transactional=True)
            except KafkaError as refusal:
                if refusal.code is ErrorCode.STALE_MEMBER_EPOCH:
                    # A producer's client does not know of epochs.
                    raise KafkaError(ErrorCode.ILLEGAL_GENERATION) from refusal
                raise

    def _to_store(self, request: CommitRequest) -> tuple[tuple[ErrorCode, ...], Pending]:
        now_ms = self._now_ms()
        expire_ms = NO_TIMESTAMP
        if request.retention_ms != DEFAULT_RETENTION:
            expire_ms = now_ms + request.retention_ms
        limit = self._settings.offset_metadata_max_bytes
        errors: list[ErrorCode] = []
        commits: Pending = []
        for one in request.offsets:
            if len(one.metadata) > limit:
                errors.append(ErrorCode.OFFSET_METADATA_TOO_LARGE)
                continue
            errors.append(ErrorCode.NONE)
            commits.append(_to_commit(request.group_id, one, now_ms, expire_ms))
        return tuple(errors), commits

    def _group_for_commit(self, group_id: str) -> None:
        groups = self._shard.groups
        if group_id not in groups:
            groups[group_id] = ClassicGroup(group_id, self._now_ms())

    def _fetched(self, request: FetchOffsetsRequest) -> FetchOffsetsResult:
        stored = self._shard.offsets.of_group(request.group_id)
        wanted = request.topics
        if wanted is None:
            wanted = {topic: tuple(partitions) for topic, partitions in stored.items()}
        topics = tuple(
            (
                topic,
                tuple(
                    self._fetched_offset(request, OffsetKey(request.group_id, topic, partition))
                    for partition in partitions
                ),
            )
            for topic, partitions in wanted.items()
        )
        return FetchOffsetsResult(topics=topics)

    def _fetched_offset(self, request: FetchOffsetsRequest, key: OffsetKey) -> FetchedOffset:
        if request.require_stable and self._shard.offsets.is_pending(key):
            return FetchedOffset(key.partition, None, ErrorCode.UNSTABLE_OFFSET_COMMIT)
        return FetchedOffset(key.partition, self._shard.offsets.get(*key))

    def _is_there(self, key: OffsetKey) -> bool:
        return self._shard.offsets.get(*key) is not None or self._shard.offsets.is_pending(key)

    def _remove(self, keys: Iterable[OffsetKey]) -> None:
        for key in keys:
            self._shard.offsets.remove(key)

    def _is_old(self, group: Group, key: OffsetKey) -> bool:
        committed = self._shard.offsets.get(*key)
        if committed is None or self._shard.offsets.is_pending(key):
            return False
        if group.is_subscribed_to(key.topic):
            return False
        since = committed.commit_timestamp
        if isinstance(group, ClassicGroup) and group.protocol_type is not None:
            if group.is_empty:
                # Nobody has been there since the last member left, whatever it committed when.
                since = group.state_timestamp if group.state_timestamp >= 0 else since
            elif group.state is not ClassicState.STABLE or group.subscribed_topics is None:
                return False
        now_ms = self._now_ms()
        if committed.expire_timestamp != NO_TIMESTAMP:
            return now_ms >= committed.expire_timestamp
        return now_ms - since >= self._settings.offsets_retention_ms


def _check_consumer_commit(
    group: ConsumerGroup, request: CommitRequest, *, is_transactional: bool = False
) -> None:
    epoch = request.generation
    if epoch < 0 and group.is_empty:
        return
    member = group.member(request.member_id)
    knows_epochs = is_transactional or request.version >= _FIRST_COMMIT_VERSION_WITH_EPOCHS
    if not member.is_classic and not knows_epochs:
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION)
    if epoch == member.epoch:
        return
    stale = ErrorCode.ILLEGAL_GENERATION if member.is_classic else ErrorCode.STALE_MEMBER_EPOCH
    if epoch > member.epoch:
        raise KafkaError(stale)
    # The member has moved on since it sent this. That is fine for what it had before and has
    # still: nobody else can have committed there meanwhile.
    for one in request.offsets:
        given_at = member.assigned.get(one.topic_id, {}).get(one.partition)
        if given_at is None:
            given_at = member.revoking.get(one.topic_id, {}).get(one.partition)
        if given_at is None or epoch < given_at:
            raise KafkaError(stale)


def _check_fetch(group: ConsumerGroup, request: FetchOffsetsRequest) -> None:
    if request.member_id is None and request.member_epoch < 0:
        return
    member = group.member(request.member_id or "")
    if member.epoch != request.member_epoch:
        raise KafkaError(
            ErrorCode.ILLEGAL_GENERATION if member.is_classic else ErrorCode.STALE_MEMBER_EPOCH
        )


def _to_commit(
    group_id: str, one: OffsetToCommit, now_ms: int, expire_ms: int
) -> tuple[OffsetKey, CommittedOffset]:
    committed = CommittedOffset(
        one.offset, one.leader_epoch, one.metadata, now_ms, expire_ms, one.topic_id
    )
    return OffsetKey(group_id, one.topic, one.partition), committed


def _tombstones(keys: Iterable[OffsetKey]) -> list[CoordinatorRecord]:
    return [offset_record(key, None) for key in keys]
