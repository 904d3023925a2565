"""What the SQL server's settings mean to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.clients import ClusterAccess, RegistryAccess
from headwater.config import ConfigError
from headwater.sql.server.properties import GUARANTEE, OFFSET_RESET

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.config import Values


@dataclass(frozen=True)
class SqlConfig:
    """Everything that can be set, but for the listener."""

    cluster: ClusterAccess = field(default_factory=ClusterAccess)
    registry: RegistryAccess | None = None
    service_id: str = "default_"
    state_dir: Path = field(default_factory=lambda: Path.home() / ".headwater" / "sql")
    queries_file: Path | None = None
    replicas: int = 1
    max_push_queries: int = 100
    max_pull_rows: int = 1_000_000
    advertised_url: str | None = None
    connect_url: str = "http://localhost:8083"
    log: ProcessingLogConfig = field(default_factory=lambda: ProcessingLogConfig())
    # Headwater's own settings of the Spark session, such as spark.headwater.realTime.
    spark: Mapping[str, str] = field(default_factory=dict)
    # Of all queries, unless a session has others.
    properties: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, values: Values, cluster: ClusterAccess) -> SqlConfig:
        """Take settings by ksqlDB's names; raises ConfigError and InvalidPropertiesError."""
        state_dir, queries = values.text("ksql.streams.state.dir"), values.text("ksql.queries.file")
        check(values)
        return cls(
            cluster,
            _registry(values),
            values.text("ksql.service.id") or "",
            cls().state_dir if state_dir is None else Path(state_dir),
            None if queries is None else Path(queries),
            values.integer("ksql.internal.topic.replicas"),
            values.integer("ksql.max.push.queries"),
            values.integer("ksql.query.pull.max.rows"),
            values.text("ksql.advertised.listener"),
            values.text("ksql.connect.url") or cls().connect_url,
            ProcessingLogConfig.of(values),
            properties=_of_queries(values),
        )

    @property
    def checkpoints(self) -> Path:
        """Where queries keep how far they are, and their state."""
        return self.state_dir / "checkpoints" / (self.service_id or "default")


@dataclass(frozen=True)
class ProcessingLogConfig:
    """Where the processing log is, who makes it and its stream, and how much it tells."""

    topic: str = "default_ksql_processing_log"
    makes_topic: bool = True
    partitions: int = 1
    replicas: int = 1
    makes_stream: bool = False
    stream: str = "KSQL_PROCESSING_LOG"
    includes_rows: bool = False

    @classmethod
    def of(cls, values: Values) -> ProcessingLogConfig:
        """Take settings by ksqlDB's names."""
        prefix = "ksql.logging.processing."
        service_id = values.text("ksql.service.id") or ""
        return cls(
            values.text(f"{prefix}topic.name") or f"{service_id}ksql_processing_log",
            values.boolean(f"{prefix}topic.auto.create"),
            values.integer(f"{prefix}topic.partitions"),
            values.integer(f"{prefix}topic.replication.factor"),
            values.boolean(f"{prefix}stream.auto.create"),
            values.text(f"{prefix}stream.name") or cls.stream,
            values.boolean(f"{prefix}rows.include"),
        )


def check(values: Values) -> None:
    """Refuse settings that make no sense; raises ConfigError."""
    queries = values.text("ksql.queries.file")
    if queries is not None and not Path(queries).is_file():
        raise ConfigError("ksql.queries.file", queries, "there is no such file")


def _of_queries(values: Values) -> dict[str, str]:
    return {name: values.text(f"ksql.streams.{name}") or "" for name in (OFFSET_RESET, GUARANTEE)}


def _registry(values: Values) -> RegistryAccess | None:
    urls = values.words("ksql.schema.registry.url")
    if not urls:
        return None
    given = {"url": ",".join(urls)}
    user = values.text("ksql.schema.registry.basic.auth.user.info")
    if user is not None:
        given |= {"basic.auth.credentials.source": "USER_INFO", "basic.auth.user.info": user}
    trusted = values.text("ksql.schema.registry.ssl.ca.location")
    if trusted is not None:
        given["ssl.ca.location"] = trusted
    return RegistryAccess.of(given)
