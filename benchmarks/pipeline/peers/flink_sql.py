"""The jobs in Flink SQL: flink_sql.py CONNECTOR KIND GUARANTEE SERVERS STATE, and the runs.

Each run has six arguments: its readings, limits, checks and output, how many milliseconds pairs may
be apart, and how many records it reads, which Flink finds out by itself. The last one counts;
those before it warm up the JVM.
"""

from __future__ import annotations

import sys
import time

from pyflink.table import (  # type: ignore[import-not-found]
    EnvironmentSettings,
    TableEnvironment,
)

THRESHOLD = 500_000
PARALLELISM = 2
_RUN = 6
_READING = "id STRING, `value` BIGINT, unit STRING, site STRING, note STRING"
_LIMIT = "highest BIGINT, alarm STRING"
_CHECK = "checked BIGINT, inspector STRING"
_TIME = "ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', WATERMARK FOR ts AS ts"
_PRIMARY_KEY = "PRIMARY KEY (`key`) NOT ENFORCED"
_JUDGED = "r.`key`, r.id, r.`value`, r.unit, r.site, r.note, l.highest, l.alarm"
_WINDOWED = "window_start TIMESTAMP(3), `count` BIGINT"
_COUNT = """INSERT INTO output SELECT `key`, window_start, COUNT(*) FROM {windows}
    GROUP BY `key`, window_start, window_end"""

QUERIES = {
    "filter": f"""INSERT INTO output SELECT `key`, id, `value`, unit, site, note FROM readings
        WHERE `value` > {THRESHOLD}""",
    "count": _COUNT.format(
        windows="TABLE(TUMBLE(TABLE readings, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
    ),
    "sessions": _COUNT.format(
        windows="TABLE(SESSION(TABLE readings PARTITION BY `key`, DESCRIPTOR(ts),"
        " INTERVAL '10' SECOND))"
    ),
    "join": f"""INSERT INTO output SELECT {_JUDGED} FROM readings AS r
        JOIN limits FOR SYSTEM_TIME AS OF r.ts AS l ON r.`key` = l.`key`""",
    "pair": """INSERT INTO output
        SELECT r.`key`, r.id, r.`value`, r.unit, r.site, r.note, c.checked, c.inspector
        FROM readings AS r, checks AS c WHERE r.`key` = c.`key` AND c.ts
        BETWEEN r.ts - INTERVAL '{span}' DAY TO SECOND(3)
            AND r.ts + INTERVAL '{span}' DAY TO SECOND(3)""",
    "tables": f"""INSERT INTO output SELECT {_JUDGED} FROM readings AS r
        JOIN limits AS l ON r.`key` = l.`key`""",
}
OUTPUTS = {
    "filter": _READING,
    "count": _WINDOWED,
    "sessions": _WINDOWED,
    "join": f"{_READING}, {_LIMIT}",
    "pair": f"{_READING}, {_CHECK}",
    "tables": f"{_READING}, {_LIMIT}",
}


def main(connector: str, kind: str, guarantee: str, servers: str, state: str, *runs: str) -> None:
    settings = {
        "parallelism.default": str(PARALLELISM),
        "pipeline.jars": connector,
        "pipeline.object-reuse": "true",
        # Of a row's versions within a mini-batch only the last is left, which a join with the table
        # as it stood then misses.
        "table.exec.mini-batch.enabled": "false" if kind == "join" else "true",
        "table.exec.mini-batch.allow-latency": "5 s",
        "table.exec.mini-batch.size": "5000",
        "table.local-time-zone": "UTC",
        "execution.checkpointing.interval": "10 s",
        "execution.checkpointing.mode": guarantee.upper(),
        "execution.checkpointing.dir": f"file://{state}",
    }
    seconds = 0.0
    for at in range(0, len(runs), _RUN):
        tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        for name, value in settings.items():
            tables.get_config().set(name, value)
        readings, limits, checks, output, within_ms, _ = runs[at : at + _RUN]
        is_table = kind == "tables"
        tables.execute_sql(_source("readings", _READING, readings, servers, is_table))
        tables.execute_sql(_source("limits", _LIMIT, limits, servers, True))
        tables.execute_sql(_source("checks", _CHECK, checks, servers, False))
        tables.execute_sql(_sink(kind, output, servers, guarantee.replace("_", "-")))
        started = time.perf_counter()
        # Flink knows no seconds of more than two digits without days before them.
        minutes, within_minute = divmod(int(within_ms), 60_000)
        hours, minutes = divmod(minutes, 60)
        span = f"{hours // 24} {hours % 24:02}:{minutes:02}:{within_minute / 1000:06.3f}"
        query = QUERIES[kind].replace("{span}", span)
        tables.execute_sql(query).wait()
        seconds = time.perf_counter() - started
    print(f"seconds={seconds}", flush=True)


def _source(name: str, columns: str, topic: str, servers: str, is_table: bool) -> str:
    columns = f"`key` STRING, {columns}, {_TIME}"
    options = {"scan.bounded.mode": "latest-offset", "properties.group.id": name}
    if not is_table:
        options["scan.startup.mode"] = "earliest-offset"
    return _table(name, columns, topic, servers, options, is_table=is_table)


def _sink(kind: str, topic: str, servers: str, guarantee: str) -> str:
    options = {"sink.delivery-guarantee": guarantee}
    if guarantee == "exactly-once":
        options |= {
            "sink.transactional-id-prefix": topic,
            "properties.transaction.timeout.ms": "600000",
        }
    columns = f"`key` STRING, {OUTPUTS[kind]}"
    return _table("output", columns, topic, servers, options, is_table=kind == "tables")


def _table(
    name: str,
    columns: str,
    topic: str,
    servers: str,
    options: dict[str, str],
    *,
    is_table: bool,
) -> str:
    options = {
        "connector": "upsert-kafka" if is_table else "kafka",
        "topic": topic,
        "properties.bootstrap.servers": servers,
        "key.format": "raw",
        "value.format": "json",
        "value.fields-include": "EXCEPT_KEY",
        **options,
    }
    if is_table:
        columns = f"{columns}, {_PRIMARY_KEY}"
    else:
        options["key.fields"] = "key"
    given = ", ".join(f"'{option}' = '{value}'" for option, value in options.items())
    return f"CREATE TABLE {name} ({columns}) WITH ({given})"


main(*sys.argv[1:])
