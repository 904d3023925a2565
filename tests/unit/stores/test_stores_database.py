"""A store's file: whole changes only, one owner, and a new beginning where it is damaged."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from headwater.stores import Position, StoreClosedError, StoreInUseError
from headwater.stores.database import Database, position_in

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

ONE = Position({"topic": {0: 1}})


def entries(connection: sqlite3.Connection) -> dict[bytes, bytes]:
    return dict(connection.execute("SELECT key, value FROM entry"))


def test_readers_see_what_was_committed_with_its_position(tmp_path: Path) -> None:
    with closing(Database(tmp_path / "s.db", "s")) as database:
        database.start_again("id")
        database.change({b"a": b"1", b"b": b"2"})
        assert entries(database.reader()) == {}
        database.commit(ONE, loading=False)
        assert entries(database.reader()) == {b"a": b"1", b"b": b"2"}
        database.change({b"a": None, b"b": b"3", b"c": None})
        database.roll_back()
        assert entries(database.reader()) == {b"a": b"1", b"b": b"2"}
        database.change({b"a": None, b"b": b"3", b"c": None})
        with closing(database.snapshot()) as before:
            before.execute("BEGIN")
            assert position_in(before) == ONE
            database.commit(Position({"topic": {0: 5}}), loading=False)
            assert entries(before) == {b"a": b"1", b"b": b"2"}
        assert entries(database.reader()) == {b"b": b"3"}


def test_what_was_not_committed_is_gone_after_a_new_start(tmp_path: Path) -> None:
    with closing(Database(tmp_path / "s.db", "s")) as database:
        database.start_again("id")
        database.change({b"a": b"1"})
        database.commit(ONE, loading=False)
        database.change({b"a": b"2"})
    with closing(Database(tmp_path / "s.db", "s")) as database:
        kept = database.kept()
        assert (kept.topic_id, kept.is_loading, kept.position) == ("id", False, ONE)
        assert entries(database.reader()) == {b"a": b"1"}


def test_a_damaged_file_begins_anew(tmp_path: Path) -> None:
    (tmp_path / "s.db").write_bytes(b"no database" * 1000)
    with closing(Database(tmp_path / "s.db", "s")) as database:
        assert database.kept().is_loading
        assert entries(database.reader()) == {}


def test_one_file_has_one_owner(tmp_path: Path) -> None:
    with (
        closing(Database(tmp_path / "s.db", "s")),
        pytest.raises(StoreInUseError, match=r"s\.db is in use by process \d+: ask that process"),
    ):
        Database(tmp_path / "s.db", "s")
    Database(tmp_path / "s.db", "s").close()


def test_a_closed_file_says_so(tmp_path: Path) -> None:
    database = Database(tmp_path / "s.db", "s")
    database.close()
    with pytest.raises(StoreClosedError, match="the store 's' is closed"):
        database.reader()
