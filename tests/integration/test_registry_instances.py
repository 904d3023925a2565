"""Several instances on one cluster: one leads, each answers everything, and ids never collide."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from tests.cli_command import Cli
from tests.integration.registry_fixtures import (
    TOPIC,
    read_topic,
    record,
    schema_record,
    write_topic,
)
from tests.registry_process import RegistryProcess
from tests.registry_workers import leader_of, leads, see

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.broker_process import BrokerProcess

FAST = ("--property", "leader.session.timeout.ms=6000")


@pytest.fixture
def start_registry(
    start_broker: Callable[..., BrokerProcess],
) -> Iterator[Callable[..., RegistryProcess]]:
    """A factory for instances on a cluster of this test's own."""
    broker = start_broker()
    mine: list[RegistryProcess] = []

    def start(*options: str) -> RegistryProcess:
        mine.append(RegistryProcess(broker.bootstrap_servers, [*FAST, *options]))
        return mine[-1].start()

    yield start
    for process in mine:
        if process.running:
            process.stop()


@pytest.fixture(scope="module")
def trio(broker: BrokerProcess) -> Iterator[list[RegistryProcess]]:
    """Three instances on one cluster, for tests that leave them as they are."""
    mine = [RegistryProcess(broker.bootstrap_servers, FAST).start() for _ in range(3)]
    leader_of(*mine)
    yield mine
    for process in mine:
        process.stop()


def test_any_instance_takes_writes(trio: list[RegistryProcess]) -> None:
    ids = []
    for number, registry in enumerate(trio):
        ids.append(registry.register("s", record("R", *[f"f{each}" for each in range(3 - number)])))
        # Whoever wrote through an instance sees it there at once.
        assert registry.get("/subjects/s/versions/latest")["id"] == ids[-1]
    assert ids == [ids[0], ids[0] + 1, ids[0] + 2]
    for registry in trio:
        see(registry, "/subjects/s/versions", [1, 2, 3])
        put = registry.request("PUT", "/config/s", {"compatibility": "NONE"})
        assert put.body == {"compatibility": "NONE"}
        bad = registry.try_register("s", "{")
        assert bad.body["error_code"] == 42201
        missing = registry.request("DELETE", "/subjects/nothing")
        assert missing.body["error_code"] == 40401
    assert trio[1].request("DELETE", "/subjects/s").body == [1, 2, 3]
    see(trio[0], "/subjects?subjectPrefix=s", [])


def test_errors_of_the_leader_come_back_as_they_are(trio: list[RegistryProcess]) -> None:
    leader = leader_of(*trio)
    follower = next(each for each in trio if each is not leader)
    follower.register("refusing", record("R", "a"))
    refused = follower.try_register("refusing", record("R", "a", "b"))
    assert (refused.status, refused.body["error_code"]) == (409, 409)
    assert "remedy" in refused.body["message"]
    assert refused.headers["content-type"] == "application/vnd.schemaregistry.v1+json"


def test_racing_registrations_share_ids_and_never_collide(trio: list[RegistryProcess]) -> None:
    def register(number: int) -> tuple[int, int]:
        # Each schema is registered by several at the same time, under subjects of their own.
        schema = number // 4
        registry = trio[number % len(trio)]
        return schema, registry.register(f"race-{number}", record(f"R{schema}", "a"))

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(register, range(160)))
    by_schema: dict[int, set[int]] = {}
    for schema, id_ in results:
        by_schema.setdefault(schema, set()).add(id_)
    assert all(len(ids) == 1 for ids in by_schema.values())
    given = sorted(next(iter(ids)) for ids in by_schema.values())
    assert given == list(range(given[0], given[0] + 40))


def test_racing_for_one_subject_gives_versions_without_holes(trio: list[RegistryProcess]) -> None:
    trio[0].request("PUT", "/config/contested", {"compatibility": "NONE"})

    def register(number: int) -> int:
        registry = trio[number % len(trio)]
        return registry.register("contested", record(f"Contested{number}", "a"))

    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(register, range(60)))
    assert len(set(ids)) == 60
    for registry in trio:
        see(registry, "/subjects/contested/versions", list(range(1, 61)))


def test_a_claim_is_written_once_for_each_election(
    start_registry: Callable[..., RegistryProcess],
) -> None:
    """Whoever comes first, the first write or the announcement, the other has nothing to add."""
    registry = start_registry("--property", "leader.session.timeout.ms=30000")
    for number in range(3):
        registry.register(f"s{number}", record(f"R{number}"))
    leader_of(registry)
    for number in range(3, 6):
        registry.register(f"s{number}", record(f"R{number}"))
    claims = [
        each for each in read_topic(registry.bootstrap_servers) if b"NOOP" in (each.key or b"")
    ]
    assert len(claims) == 1
    assert registry.says("leading in epoch")
    assert registry.text.count("leading in epoch") == 1


def test_a_leader_that_stops_is_replaced(start_registry: Callable[..., RegistryProcess]) -> None:
    one, two = start_registry(), start_registry()
    leader = leader_of(one, two)
    other = two if leader is one else one
    leader.register("s", record("A"))
    leader.stop()
    assert other.register("t", record("B")) == 2  # waits until it leads
    assert leads(other)
    leader.start()
    assert leader.register("u", record("C")) == 3
    assert leads(other)


def test_a_leader_that_hangs_is_replaced_and_does_no_harm(
    start_registry: Callable[..., RegistryProcess],
) -> None:
    one, two = start_registry(), start_registry()
    leader = leader_of(one, two)
    other = two if leader is one else one
    leader.register("s", record("A"))
    os.kill(leader.pid, signal.SIGSTOP)
    try:
        assert other.register("t", record("B")) == 2
    finally:
        os.kill(leader.pid, signal.SIGCONT)
    assert leader.register("u", record("C")) == 3
    assert leader_of(one, two) is other


def test_what_a_former_leader_writes_is_void(
    start_registry: Callable[..., RegistryProcess],
) -> None:
    """A write that was on its way when the lead changed: it counts for nobody, and is undone."""
    registry = start_registry()
    registry.register("s", record("A", "a"))
    restarted = start_registry()
    registry.stop()
    assert restarted.register("t", record("B")) == 2
    late = [("headwater.leader", b"1/somebody-that-is-gone")]
    servers = restarted.bootstrap_servers
    write_topic(servers, [schema_record("s", 1, 3, record("Late"))], headers=late)
    write_topic(servers, [schema_record("late", 1, 3, record("Late"))], headers=late)
    assert restarted.register("u", record("C")) == 3
    assert restarted.get("/schemas/ids/3")["schema"].count('"C"') == 1
    assert '"A"' in restarted.get("/subjects/s/versions/1")["schema"]
    assert restarted.says("is void: its writer no longer led")
    assert restarted.says("writing 2 records anew")
    # Who comes later and reads it all sees the same.
    restarted.stop()
    restarted.start()
    assert restarted.get("/subjects") == ["s", "t", "u"]
    assert '"A"' in restarted.get("/subjects/s/versions/1")["schema"]
    assert restarted.register("v", record("D")) == 4


def test_a_repair_that_fails_is_made_up_for(start_registry: Callable[..., RegistryProcess]) -> None:
    """Else compaction would keep the void record of a schema, and drop the one that counts."""
    registry = start_registry()
    registry.register("s", record("A", "a"))
    (key, _), (_, late) = (schema_record("s", 1, id_, record("Late")) for id_ in (1, 2))
    gone = [("headwater.leader", b"0/somebody-that-is-gone")]
    write_topic(registry.bootstrap_servers, [(key, late)], headers=gone)
    cli = Cli(registry.bootstrap_servers)
    cli.ok("configs", "alter", "--topic", TOPIC, "--add", "max.message.bytes=200")
    refused = registry.try_register("t", record("B"))
    assert (refused.status, refused.body["error_code"]) == (422, 42209)
    cli.ok("configs", "alter", "--topic", TOPIC, "--delete", "max.message.bytes")
    assert registry.register("t", record("B")) == 2
    values = [each.value for each in read_topic(registry.bootstrap_servers) if each.key == key]
    assert values[-1] == values[0] != late


def test_ids_are_not_given_again_after_compaction(
    start_registry: Callable[..., RegistryProcess],
) -> None:
    """All that is left of a deleted schema is what a leader said about ids when it claimed."""
    registry = start_registry()
    assert registry.register("s", record("A")) == 1
    said = [
        ("headwater.leader", b"70/somebody"),
        ("headwater.leader.url", b"http://127.0.0.1:1"),
        ("headwater.max.ids", b'{".":41,".x":7}'),
    ]
    noop = b'{"keytype":"NOOP","magic":0}'
    write_topic(registry.bootstrap_servers, [(noop, None)], headers=said)
    assert registry.register("t", record("B")) == 42
    assert registry.register(":.x:t", record("B")) == 8
    registry.stop()
    registry.start()
    assert registry.register("u", record("C")) == 43


def test_without_a_leader_writes_wait_and_then_say_so(
    start_registry: Callable[..., RegistryProcess],
) -> None:
    registry = start_registry(
        "--property", "leader.eligibility=false", "--property", "leader.patience.ms=500"
    )
    answer = registry.try_register("s", record("A"))
    assert (answer.status, answer.body["error_code"]) == (500, 50004)
    assert registry.get("/subjects") == []
    leader = start_registry()
    assert leader.register("s", record("A")) == 1
    assert registry.register("t", record("B")) == 2  # passed on


def test_a_read_only_instance_never_writes(
    start_registry: Callable[..., RegistryProcess],
) -> None:
    leader = start_registry()
    leader.register("s", record("A"))
    reader = start_registry("--read-only")
    assert reader.get("/subjects/s/versions") == [1]
    assert reader.register("s", record("A")) == 1
    for method, path, body in (
        ("POST", "/subjects/s/versions", {"schema": '"int"'}),
        ("DELETE", "/subjects/s", None),
        ("PUT", "/config", {"compatibility": "NONE"}),
        ("PUT", "/mode", {"mode": "READONLY"}),
    ):
        refused = reader.request(method, path, body)
        assert (refused.status, refused.body["error_code"]) == (422, 42205)
    leader.register("t", record("B"))
    see(reader, "/subjects", ["s", "t"])
