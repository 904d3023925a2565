from __future__ import annotations

import os
import resource
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import often

from headwater.broker.acls.acl import Acl, ResourcePattern
from headwater.broker.delegation_tokens.delegation_token import DelegationToken
from headwater.broker.metadata.metadata_store import (
    FILE_NAME,
    AclRecord,
    BrokerConfigRecord,
    Metadata,
    MetadataCorruptError,
    MetadataStore,
    QuotaRecord,
    Record,
    ScramRecord,
    TokenRecord,
    TopicRecord,
)
from headwater.broker.quotas.entity import Entity, entity_of
from headwater.broker.sasl.scram_credentials import (
    ScramCredential,
    ScramMechanism,
    ScramUser,
)
from headwater.broker.session import Principal
from headwater.log.errors import StorageError
from headwater.protocol.acls import AclOperation, PatternType, PermissionType, ResourceType

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ORDERS = TopicRecord("orders", b"1" * 16, 3, {"retention.ms": "5"})
USERS = TopicRecord("users", b"2" * 16, 1, {})
LIMITS = BrokerConfigRecord("", {"message.max.bytes": "1000"})


def test_what_was_committed_is_there_again(tmp_path: Path) -> None:
    store = _open(tmp_path)
    store.commit([ORDERS, USERS])
    store.commit([LIMITS])
    store.commit([ORDERS._replace(partitions=9)])
    store.close()
    metadata = _open(tmp_path).metadata
    assert metadata.topics == {"orders": ORDERS._replace(partitions=9), "users": USERS}
    assert metadata.broker_configs == {"": {"message.max.bytes": "1000"}}


def test_nobody_else_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    leftover = tmp_path / f"{FILE_NAME}.tmp"
    before = os.umask(0)
    try:
        _open(tmp_path).close()
        assert path.stat().st_mode & 0o777 == 0o600
        # An earlier version has made it, and has been killed while it made it anew.
        path.chmod(0o644)
        leftover.write_bytes(b"secrets")
        store = _open(tmp_path)
        assert path.stat().st_mode & 0o777 == 0o600
        assert not leftover.exists()
        with leftover.open("w+b") as opened:
            store._rewrite()
            assert path.stat().st_mode & 0o777 == 0o600
            assert opened.read() == b""
    finally:
        os.umask(before)


def test_a_deleted_topic_is_gone_for_good(tmp_path: Path) -> None:
    store = _open(tmp_path)
    store.commit([ORDERS, USERS])
    store.commit([ORDERS._replace(partitions=0)])
    store.close()
    assert _open(tmp_path).metadata.topics == {"users": USERS}


def test_settings_that_are_taken_back_leave_nothing(tmp_path: Path) -> None:
    store = _open(tmp_path)
    store.commit([LIMITS])
    store.commit([LIMITS._replace(configs={})])
    store.close()
    assert _open(tmp_path).metadata == Metadata()


@pytest.mark.parametrize("cut", range(1, 120, 7))
def test_a_change_that_a_crash_cut_short_never_happened(tmp_path: Path, cut: int) -> None:
    store = _open(tmp_path)
    store.commit([ORDERS])
    whole = (tmp_path / FILE_NAME).read_bytes()
    store.commit([USERS, LIMITS])
    store.close()
    longer = (tmp_path / FILE_NAME).read_bytes()
    (tmp_path / FILE_NAME).write_bytes(longer[:-cut])
    store = _open(tmp_path)
    assert store.metadata.topics == {"orders": ORDERS}
    assert store.metadata.broker_configs == {}
    assert (tmp_path / FILE_NAME).read_bytes() == whole
    store.commit([USERS])
    store.close()
    assert set(_open(tmp_path).metadata.topics) == {"orders", "users"}


def test_a_last_line_whose_pages_did_not_all_reach_the_disk_is_dropped(tmp_path: Path) -> None:
    store = _open(tmp_path)
    store.commit([ORDERS])
    store.commit([USERS])
    store.close()
    data = bytearray((tmp_path / FILE_NAME).read_bytes())
    data[-30:-20] = bytes(10)
    (tmp_path / FILE_NAME).write_bytes(data)
    assert _open(tmp_path).metadata.topics == {"orders": ORDERS}


def test_damage_in_the_middle_is_not_papered_over(tmp_path: Path) -> None:
    store = _open(tmp_path)
    store.commit([ORDERS])
    store.commit([USERS])
    store.close()
    data = (tmp_path / FILE_NAME).read_bytes()
    (tmp_path / FILE_NAME).write_bytes(data.replace(b"orders", b"orderz"))
    with pytest.raises(MetadataCorruptError, match="line 2 of"):
        _open(tmp_path)
    assert b"orderz" in (tmp_path / FILE_NAME).read_bytes()


@pytest.mark.parametrize("content", [b"", b"\n", b"something else entirely\n", b"\x00" * 50])
def test_a_file_that_is_no_journal_is_left_alone(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    with pytest.raises(MetadataCorruptError, match="does not begin"):
        _open(tmp_path)
    assert (tmp_path / FILE_NAME).read_bytes() == content


def test_a_full_disk_undoes_the_change_and_later_ones_work(tmp_path: Path) -> None:
    store = _open(tmp_path)
    store.commit([ORDERS])
    size = (tmp_path / FILE_NAME).stat().st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # The limit on a file's size fails in the middle of a write, as a full disk does.
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, hard))
    try:
        with pytest.raises(StorageError, match="metadata"):
            store.commit([USERS])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (tmp_path / FILE_NAME).stat().st_size == size
    assert store.metadata.topics == {"orders": ORDERS}
    store.commit([USERS])
    store.close()
    assert set(_open(tmp_path).metadata.topics) == {"orders", "users"}


def test_a_disk_that_failed_is_told_to_each_caller_anew(tmp_path: Path) -> None:
    store = _open(tmp_path)
    store.close()
    # What is written to a pipe can neither be put in its place nor be taken back.
    reader, store._fd = os.pipe()
    raised = []
    for _ in range(3):
        with pytest.raises(StorageError) as failure:
            store.commit([USERS])
        raised.append(failure.value)
    os.close(reader)
    store.close()
    # One object raised again and again would carry the traceback of every time.
    assert raised[1] is not raised[2]


def test_the_file_does_not_grow_with_every_change(tmp_path: Path) -> None:
    store = _open(tmp_path)
    for number in range(200):
        store.commit([ORDERS._replace(configs={"retention.ms": str(number) + "0" * 40_000})])
    assert (tmp_path / FILE_NAME).stat().st_size < 2_000_000
    store.close()
    assert _open(tmp_path).metadata.topics["orders"].configs["retention.ms"].startswith("1990")
    assert (tmp_path / FILE_NAME).stat().st_size < 100_000


_names = st.text("ab.", min_size=1, max_size=3)
_principals = st.builds(Principal, _names, _names)
_records: st.SearchStrategy[Record] = st.one_of(
    st.builds(
        TopicRecord,
        _names,
        st.binary(min_size=16, max_size=16),
        st.integers(0, 3),
        st.dictionaries(_names, st.text(max_size=5), max_size=2),
    ),
    st.builds(BrokerConfigRecord, _names, st.dictionaries(_names, st.text(max_size=5))),
    st.builds(
        QuotaRecord,
        st.dictionaries(_names, st.none() | _names, min_size=1, max_size=2).map(entity_of),
        st.dictionaries(_names, st.floats(0, exclude_min=True, allow_infinity=False), max_size=2),
    ),
    st.builds(
        ScramRecord,
        _names,
        st.sampled_from(ScramMechanism),
        st.none()
        | st.builds(ScramCredential, st.binary(), st.integers(0, 9), st.binary(), st.binary()),
    ),
    st.builds(
        AclRecord,
        st.builds(
            Acl,
            st.builds(
                ResourcePattern, st.sampled_from(ResourceType), st.sampled_from(PatternType), _names
            ),
            _names,
            _names,
            st.sampled_from(AclOperation),
            st.sampled_from(PermissionType),
        ),
        st.booleans(),
    ),
    st.builds(
        TokenRecord,
        st.builds(
            DelegationToken,
            _names,
            _principals,
            _principals,
            st.lists(_principals).map(tuple),
            st.integers(0, 9),
            st.integers(0, 9),
            st.integers(0, 9),
        ),
        st.booleans(),
    ),
)


@settings(max_examples=often(40, in_soak=500), deadline=None)
@given(st.lists(st.lists(_records, max_size=4), max_size=12))
def test_any_changes_are_read_back_as_a_dictionary_has_them(
    tmp_path_factory: pytest.TempPathFactory, commits: Sequence[Sequence[Record]]
) -> None:
    directory = tmp_path_factory.mktemp("store")
    topics: dict[str, Record] = {}
    configs: dict[str, dict[str, str]] = {}
    quotas: dict[Entity, dict[str, float]] = {}
    users: dict[ScramUser, ScramCredential | None] = {}
    acls: dict[Acl, bool] = {}
    tokens: dict[str, DelegationToken | None] = {}
    store = _open(directory)
    for changes in commits:
        store.commit(changes)
        for change in changes:
            if isinstance(change, TopicRecord):
                topics[change.name] = change
            elif isinstance(change, BrokerConfigRecord):
                configs[change.broker] = change.configs
            elif isinstance(change, ScramRecord):
                users[change.user, change.mechanism] = change.credential
            elif isinstance(change, QuotaRecord):
                quotas[change.entity] = change.quotas
            elif isinstance(change, AclRecord):
                acls[change.acl] = change.exists
            else:
                tokens[change.token.id] = change.token if change.exists else None
        store.close()
        store = _open(directory)
        assert store.metadata.topics == {
            name: topic
            for name, topic in topics.items()
            if isinstance(topic, TopicRecord) and topic.partitions
        }
        assert store.metadata.broker_configs == {k: v for k, v in configs.items() if v}
        assert store.metadata.quotas == {k: v for k, v in quotas.items() if v}
        assert store.metadata.scram == {k: v for k, v in users.items() if v is not None}
        assert set(store.metadata.acls) == {acl for acl, exists in acls.items() if exists}
        assert store.metadata.tokens == {k: v for k, v in tokens.items() if v is not None}
    store.close()


def _open(directory: Path) -> MetadataStore:
    store = MetadataStore(directory)
    store.load()
    return store
