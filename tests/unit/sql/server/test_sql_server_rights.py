"""What statements ask for, where there are rules."""

from __future__ import annotations

import pytest

from headwater.sql.parser.parser import parse
from headwater.sql.server.http.rights import demands


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("SELECT * FROM a EMIT CHANGES;", ["READ A"]),
        ("SELECT * FROM a JOIN `b` ON a.id = `b`.id EMIT CHANGES;", ["READ A", "READ b"]),
        ("CREATE STREAM c AS SELECT * FROM a;", ["ADMIN C", "READ A"]),
        ("CREATE STREAM c (id INT) WITH (kafka_topic='c', value_format='JSON');", ["ADMIN C"]),
        ("INSERT INTO c SELECT * FROM a;", ["WRITE C", "READ A"]),
        ("INSERT INTO c (id) VALUES (1);", ["WRITE C"]),
        ("DROP TABLE c DELETE TOPIC;", ["ADMIN C"]),
        ("ALTER STREAM c ADD COLUMN x INT;", ["ADMIN C"]),
        ("DESCRIBE a;", ["READ A"]),
        ("EXPLAIN SELECT * FROM a EMIT CHANGES;", ["READ A"]),
        ("EXPLAIN some_query;", ["READ *"]),
        ("PRINT 'a';", ["READ *"]),
        ("SHOW STREAMS;", []),
        ("SHOW STREAMS EXTENDED;", ["READ *"]),
        ("SHOW QUERIES;", []),
        ("DESCRIBE STREAMS;", ["ADMIN *"]),
        ("TERMINATE ALL;", ["ADMIN *"]),
        ("CREATE TYPE t AS STRING;", ["ADMIN *"]),
        ("DROP TYPE t;", ["ADMIN *"]),
        ("DESCRIBE FUNCTION ucase;", []),
        ("SET 'auto.offset.reset'='earliest';", []),
    ],
)
def test_a_statement_asks_for_all_that_it_touches(text: str, asked: list[str]) -> None:
    (parsed,) = parse(text)
    assert [f"{operation.name} {name}" for operation, name in demands(parsed.statement)] == asked
