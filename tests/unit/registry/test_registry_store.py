"""The image of the topic in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from headwater.registry.entities import Config, SchemaReference
from headwater.registry.log_records import (
    ClearSubjectKey,
    ClearSubjectValue,
    ConfigKey,
    ContextKey,
    ContextValue,
    DeleteSubjectKey,
    DeleteSubjectValue,
    LogRecord,
    ModeKey,
    ModeValue,
    NoopKey,
    SchemaKey,
    SchemaValue,
)
from headwater.registry.settings_scope import SettingsScope
from headwater.registry.store import ContextId, SchemaStore

if TYPE_CHECKING:
    import pytest


def put(
    subject: str,
    version: int,
    id_: int,
    text: str = "",
    *,
    deleted: bool = False,
    references: list[SchemaReference] | None = None,
) -> LogRecord:
    value = SchemaValue(
        subject, version, id_, text or f"schema {id_}", references=references, deleted=deleted
    )
    return LogRecord(SchemaKey(subject, version), value)


def store_of(*records: LogRecord) -> SchemaStore:
    store = SchemaStore()
    for record in records:
        store.apply(record)
    return store


def numbers(store: SchemaStore, subject: str, *, deleted: bool = False) -> list[int]:
    return [each.version for each in store.versions(subject, deleted=deleted)]


def test_versions_come_in_order_and_the_latest_is_the_last() -> None:
    store = store_of(put("s", 2, 2), put("s", 10, 3), put("s", 1, 1))
    assert numbers(store, "s") == [1, 2, 10]
    latest = store.version("s", -1)
    assert latest is not None
    assert latest.version == 10
    assert store.version("s", 3) is None
    assert store.version("x", -1) is None


def test_a_deleted_version_is_there_for_who_asks() -> None:
    store = store_of(put("s", 1, 1), put("s", 2, 2), put("s", 2, 2, deleted=True))
    assert numbers(store, "s") == [1]
    assert numbers(store, "s", deleted=True) == [1, 2]
    assert store.version("s", 2) is None
    assert store.version("s", 2, deleted=True) is not None


def test_deleting_a_subject_ends_at_a_version() -> None:
    store = store_of(
        put("s", 1, 1),
        put("s", 2, 2),
        LogRecord(DeleteSubjectKey("s"), DeleteSubjectValue("s", 2)),
        put("s", 3, 3),
    )
    assert numbers(store, "s") == [3]
    assert numbers(store, "s", deleted=True) == [1, 2, 3]


def test_a_tombstone_removes_everything_but_the_id() -> None:
    store = store_of(put("s", 1, 5), LogRecord(SchemaKey("s", 1), None))
    assert not store.has_subject("s", deleted=True)
    assert store.by_id(".", 5) == []
    assert store.max_id(".") == 5  # an id is never given twice


def test_ids_are_remembered_without_their_schemas() -> None:
    store = store_of(put("s", 1, 5))
    store.note_max_ids({".": 3, ".x": 9})
    assert store.max_ids() == {".": 5, ".x": 9}
    store.note_max_ids({".": 8})
    assert store.max_id(".") == 8


def test_ids_belong_to_contexts() -> None:
    store = store_of(put("s", 1, 1, "a"), put(":.x:s", 1, 1, "b"), put("t", 1, 1, "a"))
    assert {each.subject for each in store.by_id(".", 1)} == {"s", "t"}
    assert [each.text for each in store.by_id(".x", 1)] == ["b"]
    assert store.max_id(".x") == 1
    (schema,) = store.by_id(".x", 1)
    assert store.id_of_guid(".x", schema.guid) == 1
    assert store.id_of_guid(".", schema.guid) is None


def test_an_id_stays_with_its_first_schema(caplog: pytest.LogCaptureFixture) -> None:
    store = store_of(put("s", 1, 1, "a"), put("t", 1, 1, "other"))
    assert not store.has_subject("t")
    assert "is ignored: its id 1 is already that of subject s" in caplog.text


def test_an_id_goes_to_the_later_leader() -> None:
    store = SchemaStore()
    store.apply(put("s", 1, 1, "from a leader that was replaced"), epoch=3)
    store.apply(put("t", 1, 1, "from its successor"), epoch=4)
    assert not store.has_subject("s")
    assert [each.subject for each in store.by_id(".", 1)] == ["t"]


def test_referrers_are_known_as_long_as_they_exist() -> None:
    reference = [SchemaReference("n", "base", 1)]
    store = store_of(
        put("base", 1, 1), put("user", 1, 2, references=reference), put(":.x:base", 1, 1),
        put(":.x:user", 1, 2, references=reference),
    )  # fmt: skip
    assert store.referrers(SchemaKey("base", 1)) == {ContextId(".", 2)}
    assert store.referrers(SchemaKey(":.x:base", 1)) == {ContextId(".x", 2)}
    store.apply(LogRecord(SchemaKey("user", 1), None))
    assert store.referrers(SchemaKey("base", 1)) == set()


def test_clearing_takes_what_was_deleted() -> None:
    store = store_of(
        put(":.x:a", 1, 1, deleted=True), put(":.x:b", 1, 2), put("c", 1, 1, deleted=True),
        LogRecord(ClearSubjectKey(":.x:"), ClearSubjectValue(":.x:")),
    )  # fmt: skip
    assert set(store.subjects) == {":.x:b", "c"}


def test_settings_modes_and_contexts() -> None:
    store = store_of(
        LogRecord(ConfigKey("s"), Config(compatibility_level="NONE")),
        LogRecord(ModeKey(None), ModeValue("READONLY")),
        LogRecord(ContextKey(".x"), ContextValue(".x")),
        LogRecord(NoopKey(), None),
    )
    assert store.configs["s"].compatibility_level == "NONE"
    assert store.modes[None] == "READONLY"
    assert store.contexts == {".x"}
    for key in (ConfigKey("s"), ModeKey(None), ContextKey(".x")):
        store.apply(LogRecord(key, None))
    assert (store.configs, store.modes, store.contexts) == ({}, {}, set())


def test_scopes_go_from_the_subject_to_everything() -> None:
    store = SchemaStore()
    scope = SettingsScope(store, "BACKWARD")
    assert scope.config("s") is None
    assert scope.config_in_scope("s").compatibility_level == "BACKWARD"
    store.apply(LogRecord(ConfigKey(None), Config(compatibility_level="FULL", normalize=True)))
    assert scope.config_in_scope("s").compatibility_level == "FULL"
    assert scope.config_in_scope(":.x:s").compatibility_level == "BACKWARD"
    store.apply(LogRecord(ConfigKey(":.x:"), Config(compatibility_level="NONE")))
    assert scope.config_in_scope(":.x:s").compatibility_level == "NONE"
    store.apply(LogRecord(ConfigKey(":.__GLOBAL:"), Config(compatibility_level="FORWARD")))
    assert scope.config_in_scope(":.y:s").compatibility_level == "FORWARD"
    store.apply(LogRecord(ConfigKey("s"), Config(alias="t")))
    own = scope.config_in_scope("s")
    assert (own.alias, own.normalize, own.compatibility_level) == ("t", True, "BACKWARD")


def test_modes_go_the_same_way() -> None:
    store = SchemaStore()
    scope = SettingsScope(store, "BACKWARD")
    assert (scope.mode(None), scope.mode("s"), scope.mode_in_scope("s")) == (
        "READWRITE",
        None,
        "READWRITE",
    )
    store.apply(LogRecord(ModeKey("s"), ModeValue("IMPORT")))
    store.apply(LogRecord(ModeKey(None), ModeValue("READONLY")))
    assert scope.mode_in_scope("s") == "IMPORT"
    assert scope.is_read_only("t")
    store.apply(LogRecord(ModeKey(None), ModeValue("READONLY_OVERRIDE")))
    assert scope.is_read_only("s")


RECORDS = st.one_of(
    st.builds(
        put,
        st.sampled_from(["a", "b", ":.x:a"]),
        st.integers(1, 3),
        st.integers(1, 4),
        deleted=st.booleans(),
    ),
    st.builds(
        lambda subject, version: LogRecord(SchemaKey(subject, version), None),
        st.sampled_from(["a", "b", ":.x:a"]),
        st.integers(1, 3),
    ),
    st.builds(
        lambda subject, version: LogRecord(
            DeleteSubjectKey(subject), DeleteSubjectValue(subject, version)
        ),
        st.sampled_from(["a", "b"]),
        st.integers(1, 3),
    ),
    st.sampled_from(
        [
            LogRecord(ConfigKey("a"), Config(normalize=True)),
            LogRecord(ConfigKey("a"), None),
            LogRecord(ModeKey("a"), ModeValue("IMPORT")),
            LogRecord(ContextKey(".x"), ContextValue(".x")),
            LogRecord(ContextKey(".x"), None),
        ]
    ),
)


@given(st.lists(RECORDS, max_size=40), RECORDS)
def test_restoring_undoes_whatever_a_key_was_overwritten_with(
    records: list[LogRecord], intruder: LogRecord
) -> None:
    """Live, the intruder is void; read later without knowing that, what was restored wins."""
    store = store_of(*records)
    key = intruder.key
    replayed = store_of(*records, LogRecord(key, intruder.value), *store.restoring(key))
    if isinstance(key, DeleteSubjectKey):
        assert numbers(replayed, key.subject) == numbers(store, key.subject)
    elif isinstance(key, SchemaKey):
        before = store.version(key.subject, key.version, deleted=True)
        after = replayed.version(key.subject, key.version, deleted=True)
        assert before == after
    assert replayed.configs == store.configs
    assert replayed.modes == store.modes
    assert replayed.contexts == store.contexts
