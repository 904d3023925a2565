"""A program: its name, where it runs, and the streams and tables it starts from."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from headwater.clients import InvalidPropertiesError
from headwater.clients.programs import cluster_access, registry_access
from headwater.plan.checks import check_plan
from headwater.plan.errors import PlanError
from headwater.plan.expressions.scope import Scope
from headwater.plan.nodes import OnMalformed, Process, TopicSource
from headwater.plan.pictures.topology import describe
from headwater.plan.plan import Guarantee, Plan, ProgramSettings, checkpoint_place
from headwater.plan.rows import RowType
from headwater.plan.schemas.types import TIMESTAMP
from headwater.plan.splitting.fingerprint import fingerprint_of
from headwater.plan.splitting.stages import split
from headwater.plan.store_updater import StoreUpdater
from headwater.stores.opening import Stores, default_directory
from headwater.streams.builder import Builder
from headwater.streams.formats import as_format, read_type
from headwater.streams.hints import Hints
from headwater.streams.kstream import KStream
from headwater.streams.ktable import GlobalKTable, KTable
from headwater.streams.location import Located
from headwater.streams.operands import Classes, as_expression
from headwater.streams.processes import add_process
from headwater.streams.start import as_start
from headwater.streams.types import as_class, as_type

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from headwater.clients import RegistryAccess
    from headwater.plan.formats import Format
    from headwater.plan.nodes import Emit, SourceKind
    from headwater.plan.processing.processor import Processor, StateStore
    from headwater.plan.schemas.types import DataType
    from headwater.plan.splitting.fingerprint import Fingerprint
    from headwater.serde import SchemaRegistryClient
    from headwater.stores import KeyValueStore, WindowStore
    from headwater.streams.formats import FormatLike, Side
    from headwater.streams.operands import FieldLike
    from headwater.streams.start import StartLike
    from headwater.streams.topology import Topology
    from headwater.streams.types import TypeLike

_NAME = re.compile(r"[a-zA-Z0-9._-]{1,200}")
_GUARANTEES = ("at_least_once", "exactly_once")


class SourceOptions(TypedDict, total=False):
    """How a topic is read.

    `key` and `value` name formats: string, long, double, bytes, json, avro, jsonschema, protobuf;
    without a word, keys are strings and values JSON. Types are DDL text or a dataclass; for the
    registry's formats they are read from the registry where they are not given. A record that
    cannot be decoded goes to the topic `dead_letter`, or fails the job. `timestamp_by` is an
    expression for the event's time where that is not the record's timestamp.
    """

    key: FormatLike
    value: FormatLike
    key_type: TypeLike | None
    value_type: TypeLike | None
    dead_letter: str | None
    timestamp_by: FieldLike | None
    name: str | None


class App(Hints):
    """A stream processing program.

    >>> from headwater.streams import App, col
    >>> app = App("alerts")
    >>> readings = app.stream("readings", value_type="id string, value double")
    >>> readings.filter(col("value") > 800_000).to("alerts")
    >>> print(app.describe().splitlines()[0])
    Topologies:

    The addresses of the broker and of the registry are, where they are not given, those of the
    environment (HEADWATER_BOOTSTRAP_SERVER, HEADWATER_REGISTRY), else the ones on this machine.
    `emit` is what aggregates do that do not say it themselves. `spark` and `kafka` pass settings
    through to Spark's session and to its Kafka clients. `registry` has what lets it in to the
    registry, by Confluent's names: `basic.auth.user.info`, `ssl.ca.location` and the like. What the
    command line says of the cluster and the registry wins. `stores_dir` is where stores keep
    their files, by default a folder by the program's name in ~/.headwater/stores.
    """

    def __init__(
        self,
        name: str,
        *,
        bootstrap_servers: str | None = None,
        registry_url: str | None = None,
        guarantee: Guarantee = "at_least_once",
        checkpoint_dir: str | Path | None = None,
        emit: Emit = "batch",
        spark: Mapping[str, str] | None = None,
        kafka: Mapping[str, str] | None = None,
        registry: Mapping[str, str] | None = None,
        stores_dir: str | Path | None = None,
    ) -> None:
        with Located():
            _check_name(name)
            if guarantee not in _GUARANTEES:
                raise PlanError(
                    f"there is no guarantee {guarantee!r} (there are {', '.join(_GUARANTEES)})"
                )
            registry_found = _registry_access(registry_url, registry)
        self.name = name
        self.settings = ProgramSettings(
            cluster=cluster_access(bootstrap_servers, kafka),
            registry=registry_found,
            guarantee=guarantee,
            checkpoint_dir=None if checkpoint_dir is None else checkpoint_place(checkpoint_dir),
            spark=dict(spark or {}),
        )
        self._registry: SchemaRegistryClient | None = None
        self._builder = Builder(name, emit, self._registry_client)
        self._stores_dir = None if stores_dir is None else Path(stores_dir)
        self._stores: Stores | None = None

    def stream(
        self, *topics: str, start: StartLike = "earliest", **options: Unpack[SourceOptions]
    ) -> KStream:
        """Read topics as a stream.

        `start` is where to begin without a checkpoint: `earliest`, `latest`, a time, or offsets by
        topic and partition, where what is not named is read from its beginning. The other options
        are those of `SourceOptions`.
        """
        with Located() as location:
            source, classes = self._source("stream", topics, start, options, location)
            return KStream(self._builder, source, classes)

    def table(self, topic: str, **options: Unpack[SourceOptions]) -> KTable:
        """Read a topic as a table: each record sets the value of its key, null deletes it."""
        with Located() as location:
            source, classes = self._source("table", (topic,), "earliest", options, location)
            return KTable(self._builder, source, classes)

    def global_table(self, topic: str, **options: Unpack[SourceOptions]) -> GlobalKTable:
        """Read a topic as a table that streams look up by any expression."""
        with Located() as location:
            source, classes = self._source("global_table", (topic,), "earliest", options, location)
            return GlobalKTable(source, classes)

    def add_state_store(self, store: StateStore, *, look_ups: bool = False) -> None:
        """Add a store that several processors share: those that ask for it by its name in `init`.

        It is made by `value_store`, `list_store` or `map_store`. Processors that share a store
        are computed as one, each key in one place. With `look_ups` what the store has after each
        change is written to the topic `<app>-<name>-changelog`, and `app.store(name)` follows it.

        >>> from headwater.streams import App, value_store
        >>> app = App("alarms")
        >>> app.add_state_store(value_store("limit", "double"))
        """
        with Located() as location:
            self._builder.shared.add_store(store, location, look_ups=look_ups)

    def add_read_only_state_store(
        self,
        store: StateStore,
        topic: str,
        updater: Callable[[], Processor] | None = None,
        *,
        look_ups: bool = False,
        **options: Unpack[SourceOptions],
    ) -> None:
        """Add a store that a topic fills, for processors that ask for it by its name and read it.

        A value store has the last value of each key in the topic, whose type it has. Any other is
        filled by `updater`, a processor that gets the topic's records and asks for the store.

        >>> from headwater.streams import App, value_store
        >>> app = App("alarms")
        >>> app.add_read_only_state_store(value_store("limit", "limit double"), "limits")
        """
        with Located() as location:
            self._builder.shared.add_store(store, location, look_ups=look_ups)
            if updater is None:
                options = _of_values(store, options)
            source, classes = self._source("table", (topic,), "earliest", options, location)
            if updater is None and source.row.value != store.value:
                raise PlanError(
                    f"the store {store.name!r} has the values of {topic}, which are "
                    f"{source.row.value.ddl()} and not {store.value.ddl()}"
                )
            records = KTable(self._builder, source, classes).to_stream()
            filled = add_process(
                self._builder, records.node, classes, updater or StoreUpdater(store.name),
                store.value, None, location, keeps_key=True,
            )  # fmt: skip
            assert isinstance(filled.node, Process), "it was added as one"
            self._builder.shared.add_updater(store, filled.node)

    def store(self, name: str) -> KeyValueStore:
        """Return the store of a table, by the name that `KTable.store` gave it, for look-ups.

        It follows its table from the first call on, in this process, until `stores.close()`.
        """
        return self.stores.key_value(name)

    def window_store(self, name: str) -> WindowStore:
        """Return the store of a windowed table, as `store` does for others."""
        return self.stores.windowed(name)

    @property
    def stores(self) -> Stores:
        """The stores of this program; each is opened when it is first asked for."""
        if self._stores is None:
            followed = (*self._builder.stores.values(), *self._builder.shared.followed())
            self._stores = Stores(
                followed, self.settings.cluster,
                self._stores_dir or default_directory(self.name), self._registry_client,
            )  # fmt: skip
        return self._stores

    def plan(self) -> Plan:
        """Return the program as data; refuse one that cannot run."""
        sinks = self._builder.shared.grouped(self._builder.sinks)
        plan = Plan(self.name, sinks, self.settings)
        check_plan(plan)
        return plan

    def fingerprint(self) -> Fingerprint:
        """Return what a checkpoint of this program depends on."""
        return fingerprint_of(split(self.plan()))

    def topology(self) -> Topology:
        """Return what wires sources, processors and sinks by hand, beside the streams."""
        from headwater.streams.topology import Topology

        return Topology(self)

    def describe(self) -> str:
        """Return the topology as text, in the form in which Kafka Streams prints it."""
        return describe(split(self.plan()))

    def mermaid(self) -> str:
        """Return the topology as a Mermaid flowchart."""
        from headwater.plan.pictures.mermaid import mermaid

        return mermaid(split(self.plan()))

    def svg(self) -> str:
        """Return the topology as an SVG picture."""
        from headwater.plan.pictures.svg import svg

        return svg(self.name, split(self.plan()))

    def _source(
        self,
        kind: SourceKind,
        topics: tuple[str, ...],
        start: StartLike,
        options: SourceOptions,
        location: str,
    ) -> tuple[TopicSource, Classes]:
        _check_topics(topics)
        declared = options.get("key_type"), options.get("value_type")
        key_format, key = self._read(options.get("key", "string"), declared[0], topics, "key")
        value_format, value = self._read(options.get("value", "json"), declared[1], topics, "value")
        row = RowType(key, value, has_position=True)
        source = self._builder.add(
            TopicSource, "KSTREAM-SOURCE" if kind == "stream" else "KTABLE-SOURCE", (), row,
            location, topics=topics, kind=kind, key_format=key_format, value_format=value_format,
            start=as_start(start, topics), on_malformed=OnMalformed(options.get("dead_letter")),
            timestamp_by=_timestamp(options.get("timestamp_by"), row), name=options.get("name"),
        )  # fmt: skip
        return source, Classes(as_class(declared[0]), as_class(declared[1]))

    def _read(
        self, format_: FormatLike, declared: TypeLike | None, topics: tuple[str, ...], side: Side
    ) -> tuple[Format, DataType]:
        type_ = None if declared is None else as_type(declared)
        return read_type(as_format(format_), type_, topics, side, self._registry_client)

    def _registry_client(self) -> SchemaRegistryClient:
        from headwater.serde import SchemaRegistryClient

        if self._registry is None:
            assert self.settings.registry is not None, "there is always a default"
            self._registry = SchemaRegistryClient(self.settings.registry)
        return self._registry


def _registry_access(url: str | None, properties: Mapping[str, str] | None) -> RegistryAccess:
    try:
        return registry_access(url, properties)
    except InvalidPropertiesError as failure:
        raise PlanError(f"the registry's settings: {failure}") from failure


def _check_name(name: str) -> None:
    if _NAME.fullmatch(name) is None:
        raise PlanError(
            f"{name!r} cannot name an app, since topics are named after it: use letters, digits, "
            "'.', '_' and '-'"
        )


def _check_topics(topics: tuple[Any, ...]) -> None:
    if not topics or not all(isinstance(topic, str) and topic for topic in topics):
        raise PlanError('name the topics one by one, as stream("orders", "returns")')
    if len(set(topics)) < len(topics):
        raise PlanError(f"a topic is named twice in {', '.join(topics)}")


def _of_values(store: StateStore, options: SourceOptions) -> SourceOptions:
    """Read a topic's values as what the store has, unless their type is known otherwise."""
    if store.kind != "value":
        raise PlanError(
            f"the store {store.name!r} is a {store.kind}: give a processor that fills it, as "
            "add_read_only_state_store(store, topic, Filling)"
        )
    if options.get("value_type") is not None or as_format(options.get("value", "json")).fixed_type:
        return options
    return {**options, "value_type": store.value}


def _timestamp(given: FieldLike | None, row: RowType) -> Any:
    if given is None:
        return None
    expression = as_expression(given)
    found = expression.type_in(Scope.of_record(row))
    if found != TIMESTAMP:
        raise PlanError(
            f"timestamp_by={given}: a time is a timestamp, this is {found.ddl()}; "
            "timestamp_millis(...) makes one of milliseconds"
        )
    return expression
