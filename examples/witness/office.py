"""The office at work: what is registered goes through Connect and a program, each event once."""

from __future__ import annotations

import json
import re
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import httpx
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource
from examples.mariadb import MariaDbError
from examples.stage import stage
from examples.witness.program import EVENTS, TAX_DEPARTMENT
from examples.witness.register import Register

from headwater.clients import ClusterAccess

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from examples.stage import Program, Stage

HERE = Path(__file__).parent
CONNECTOR = "jdbc_source_mysql_01"
_ID = re.compile(r"ID=(\d+),")
_WITHIN_S = 60.0
# Who wants to see files go does not wait for minutes. Without a journal, no file but the topics'
# has an event in it.
_PROPERTIES = (
    "broker.log.cleaner.backoff.ms=1000",
    "broker.log.retention.check.interval.ms=1000",
    "broker.headwater.journal.bytes=0",
)


@dataclass(frozen=True)
class Record:
    """A record of a topic; `row` is the number that its row has in the register."""

    offset: int
    key: str | None
    row: int | None


@dataclass
class Office:
    """The register, the platform, and what connects them."""

    platform: Stage
    register: Register
    _programs: ExitStack = field(default_factory=ExitStack)
    program: Program | None = None
    """The last one that was started."""

    def read_in_bulk(self) -> None:
        """Let Connect read the whole table, every few seconds."""
        given = json.loads(_configuration("bulk.json", self.register.url))
        self._ask("POST", "/connectors", given)

    def read_what_is_new(self) -> None:
        """Let Connect read new rows alone, with the person as the key."""
        given = json.loads(_configuration("incrementing.json", self.register.url))
        self._ask("PUT", f"/connectors/{CONNECTOR}/config", given)

    def start_program(self) -> None:
        """Run the program that tells the tax department."""
        running = self.platform.program(HERE / "program.py")
        self.program = self._programs.enter_context(running)

    def look_after(self) -> None:
        """Start what was killed; the platform does so with its own parts, such as Connect."""
        if self.program is not None and not self.program.child.running:
            click.echo("the program has ended, and is started again")
            self.start_program()
        if not self.register.server.is_running:
            click.echo("the database has ended, and is started again")
            self.register.server.start()

    def close(self) -> None:
        """End the program, and then the database."""
        self._programs.close()
        self.register.close()

    def set_config(self, config: Mapping[str, str]) -> None:
        """Give both topics these settings, beside those that they have."""
        changes = [
            ConfigResource(
                ConfigResource.Type.TOPIC,
                topic,
                incremental_configs=[
                    ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
                    for name, value in config.items()
                ],
            )
            for topic in (EVENTS, TAX_DEPARTMENT)
        ]
        admin = AdminClient({"bootstrap.servers": self.platform.servers, "log_level": 0})
        for done in admin.incremental_alter_configs(changes).values():
            done.result(_WITHIN_S)

    def clean(self) -> None:
        """Delete what was read in bulk: all records before the first with a key."""
        first = next(each.offset for each in self.records(EVENTS) if each.key is not None)
        admin = AdminClient({"bootstrap.servers": self.platform.servers, "log_level": 0})
        for done in admin.delete_records([TopicPartition(EVENTS, 0, first)]).values():
            done.result(_WITHIN_S)

    def forget(self, person: str) -> None:
        """Say that a person is to be forgotten: a record with the key and no value."""
        producer = Producer(ClusterAccess(self.platform.servers).producer())
        producer.produce(EVENTS, None, person)
        if producer.flush(_WITHIN_S):
            raise click.ClickException("the broker did not take the tombstone")

    def records(self, topic: str) -> list[Record]:
        """Return all that is committed in a topic."""
        return [
            Record(message.offset(), _text(message.key()), _row(message.value()))
            for message in _read(self.platform.servers, topic)
        ]

    def files_with(self, *texts: str) -> list[Path]:
        """Return all files of the platform and of the program that one of these texts is in."""
        wanted = [text.encode() for text in texts]
        folders = [self.platform.data / name for name in ("platform", "checkpoints")]
        files = (path for folder in folders for path in folder.rglob("*"))
        return sorted(path for path in files if _holds(path, wanted))

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        url = self.platform.endpoints["connect"]
        answer = httpx.request(method, url + path, json=body, timeout=_WITHIN_S)
        if answer.is_error:
            raise click.ClickException(f"Connect answers {answer.status_code}: {answer.text}")
        return answer.json()


@contextmanager
def office(*options: str) -> Iterator[Office]:
    """Open the office; `options` are further ones of `headwater up`."""
    settings = [part for each in _PROPERTIES for part in ("--property", each)]
    with stage("witness", *settings, *options, services=["connect"]) as platform:
        folder = platform.data / "register"
        folder.mkdir()
        try:
            register = Register(folder, platform.guard)
        except MariaDbError as failure:
            raise click.ClickException(str(failure)) from failure
        opened = Office(platform, register)
        try:
            platform.create_topics(EVENTS, TAX_DEPARTMENT)
            yield opened
        finally:
            opened.close()


def _configuration(name: str, url: str) -> str:
    # The lab's own, but for where the database is.
    return (HERE / name).read_text().replace("jdbc:mysql://mariadb:3306/events", url)


def _read(servers: str, topic: str) -> Iterator[Any]:
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "counting",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
            "auto.offset.reset": "earliest",
        }
    )
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    try:
        while True:
            message = consumer.poll(_WITHIN_S)
            if message is None:
                raise click.ClickException(f"{topic} cannot be read to its end")
            error = message.error()
            if error is None:
                yield message
            elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - librdkafka's own
                return
            else:
                raise click.ClickException(f"{topic} cannot be read: {error}")
    finally:
        consumer.close()


def _holds(path: Path, wanted: list[bytes]) -> bool:
    try:
        content = path.read_bytes() if path.is_file() else b""
    except FileNotFoundError:  # compaction has just put another one in its place
        return False
    return any(text in content for text in wanted)


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode()


def _row(value: bytes | None) -> int | None:
    found = None if value is None else _ID.search(value.decode())
    return None if found is None else int(found[1])
