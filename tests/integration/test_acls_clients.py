"""ACLs as clients of every kind make them and feel them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import confluent_kafka
import kafka.admin
import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)
from tests.broker_process import BrokerProcess
from tests.integration.raw_client import RawClient
from tests.integration.raw_requests import create_topic, produce
from tests.integration.record_batches import batch_of
from tests.integration.scrape import Metrics
from tests.waiting import wait_for

from headwater.broker.config.settings.acls import STANDARD_AUTHORIZER

if TYPE_CHECKING:
    from collections.abc import Iterator

ME = "User:ANONYMOUS"
LITERAL, PREFIXED = ResourcePatternType.LITERAL, ResourcePatternType.PREFIXED
ALLOW, DENY = AclPermissionType.ALLOW, AclPermissionType.DENY
READ, WRITE, ALL = AclOperation.READ, AclOperation.WRITE, AclOperation.ALL
WITHIN_S = 60


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    """Nobody has a name here, so everybody may make ACLs: no ACL is about the cluster."""
    process = BrokerProcess(
        tmp_path_factory.mktemp("acls") / "data",
        {
            "authorizer.class.name": STANDARD_AUTHORIZER,
            "allow.everyone.if.no.acl.found": "true",
            "headwater.metrics.port": "0",
        },
    ).start()
    yield process
    process.stop()


def topic_acl(
    name: str,
    operation: AclOperation,
    permission: AclPermissionType = ALLOW,
    principal: str = ME,
    pattern: ResourcePatternType = LITERAL,
) -> AclBinding:
    return AclBinding(ResourceType.TOPIC, name, pattern, principal, "*", operation, permission)


def exactly(acl: AclBinding) -> AclBindingFilter:
    return AclBindingFilter(
        acl.restype, acl.name, acl.resource_pattern_type, acl.principal, acl.host, acl.operation,
        acl.permission_type,
    )  # fmt: skip


def create(admin: AdminClient, *acls: AclBinding) -> None:
    for future in admin.create_acls(list(acls)).values():
        future.result(WITHIN_S)


def remove(admin: AdminClient, *acls: AclBinding) -> list[AclBinding]:
    futures = admin.delete_acls([exactly(acl) for acl in acls]).values()
    return [acl for future in futures for acl in future.result(WITHIN_S)]


def delivery_error(broker: BrokerProcess, topic: str) -> str | None:
    """Write one record and return the name of the error, if there is one."""
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap_servers})
    seen: list[confluent_kafka.KafkaError | None] = []
    producer.produce(topic, b"v", on_delivery=lambda error, _: seen.append(error))
    assert producer.flush(WITHIN_S) == 0
    return None if seen[0] is None else seen[0].name()


def test_confluents_admin_makes_finds_and_deletes_them(admin: AdminClient, topic: str) -> None:
    mine = [
        topic_acl(topic, READ),
        topic_acl(topic, WRITE, DENY, "User:eve"),
        topic_acl(topic, ALL, principal="User:ann", pattern=PREFIXED),
    ]
    create(admin, *mine)
    everything = AclBindingFilter(
        ResourceType.ANY, topic, ResourcePatternType.ANY, None, None, AclOperation.ANY,
        AclPermissionType.ANY,
    )  # fmt: skip
    assert sorted(admin.describe_acls(everything).result(WITHIN_S)) == sorted(mine)
    assert remove(admin, mine[1]) == [mine[1]]
    assert remove(admin, mine[1]) == []
    remove(admin, mine[0], mine[2])
    assert admin.describe_acls(everything).result(WITHIN_S) == []


def test_kafka_pythons_admin_makes_finds_and_deletes_them(
    broker: BrokerProcess, topic: str
) -> None:
    admin = kafka.admin.KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers)
    try:
        pattern = kafka.admin.ResourcePattern(kafka.admin.ResourceType.GROUP, topic)
        mine = kafka.admin.ACL(
            "User:ann",
            "10.0.0.1",
            kafka.admin.ACLOperation.READ,
            kafka.admin.ACLPermissionType.ALLOW,
            pattern,
        )
        assert len(admin.create_acls([mine])["succeeded"]) == 1
        of_pattern = kafka.admin.ACLFilter(
            None,
            None,
            kafka.admin.ACLOperation.ANY,
            kafka.admin.ACLPermissionType.ANY,
            kafka.admin.ResourcePatternFilter(
                kafka.admin.ResourceType.GROUP, topic, kafka.admin.ACLResourcePatternType.LITERAL
            ),
        )
        found, _ = admin.describe_acls(of_pattern)
        assert found == [mine]
        admin.delete_acls([of_pattern])
        assert admin.describe_acls(of_pattern)[0] == []
    finally:
        admin.close()


def test_who_may_not_write_is_told_logged_and_counted(
    broker: BrokerProcess, admin: AdminClient, topic: str
) -> None:
    admin.create_topics([NewTopic(topic, 1)])[topic].result(WITHIN_S)
    acl = topic_acl(topic, AclOperation.DESCRIBE)
    create(admin, acl)
    before = _denials(broker)
    assert delivery_error(broker, topic) == "TOPIC_AUTHORIZATION_FAILED"
    assert _denials(broker) > before
    line = f"denied {ME} at 127.0.0.1: no WRITE on TOPIC {topic}"
    wait_for(lambda: any(line in said for said in broker.output))
    create(admin, topic_acl(topic, WRITE))
    assert delivery_error(broker, topic) is None
    remove(admin, acl, topic_acl(topic, WRITE))


def test_a_consumer_whose_right_is_taken_away_is_told(
    broker: BrokerProcess, admin: AdminClient, topic: str
) -> None:
    mine = topic_acl(topic, ALL)
    create(admin, mine)
    with RawClient(broker) as client:
        created = create_topic(client, topic)
        produce(client, created, batch_of([b"before"]))
        consumer = confluent_kafka.Consumer(
            {
                "bootstrap.servers": broker.bootstrap_servers,
                "group.id": topic,
                "auto.offset.reset": "earliest",
            }
        )
        try:
            consumer.subscribe([topic])
            first = wait_for(lambda: consumer.poll(1))
            assert first.value() == b"before"
            create(admin, topic_acl(topic, READ, DENY))
            told = wait_for(lambda: consumer.poll(1))
            assert told.error().name() == "TOPIC_AUTHORIZATION_FAILED"
            remove(admin, topic_acl(topic, READ, DENY))
            produce(client, created, batch_of([b"after"]))
            values = iter(lambda: consumer.poll(1), object())
            assert any(m is not None and m.value() == b"after" for m in values)
        finally:
            consumer.close()
    remove(admin, mine)


def test_what_one_may_not_see_is_not_there(
    broker: BrokerProcess, admin: AdminClient, topic: str
) -> None:
    with RawClient(broker) as client:
        hidden = create_topic(client, f"{topic}-hidden")
        seen = create_topic(client, f"{topic}-seen")
        acl = topic_acl(f"{topic}-hidden", READ, principal="User:ann")
        create(admin, acl)
        listed = set(admin.list_topics(timeout=WITHIN_S).topics)
        assert seen.name in listed
        assert hidden.name not in listed
        ghost = topic_acl(f"{topic}-ghost", READ, principal="User:ann")
        create(admin, ghost)
        names = [hidden.name, f"{topic}-ghost"]
        answer = client.call("metadata", 12, topics=[{"name": name} for name in names])
        # One of them exists: the answers must not tell which.
        assert {each.error_code.name for each in answer.topics} == {"topic_authorization_failed"}
        assert {each.topic_id for each in answer.topics} == {None}
        remove(admin, acl, ghost)


def test_acls_are_there_after_a_kill(broker: BrokerProcess, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    admin.create_topics([NewTopic(topic, 1)])[topic].result(WITHIN_S)
    denial = topic_acl(topic, WRITE, DENY)
    create(admin, topic_acl(topic, ALL), denial)
    remove(admin, denial)
    create(admin, topic_acl(topic, READ, DENY))
    broker.kill()
    broker.start()
    assert delivery_error(broker, topic) is None
    with RawClient(broker) as client:
        fetched = client.call(
            "fetch",
            12,
            replica_id=-1,
            max_bytes=1000,
            topics=[{"topic": topic, "partitions": [{"partition": 0}]}],
        )
        code = fetched.responses[0].partitions[0].error_code.name
        assert code == "topic_authorization_failed"


def _denials(broker: BrokerProcess) -> float:
    return Metrics(broker).sum(
        "headwater_broker_authorization_denials_total", operation="WRITE", resource="TOPIC"
    )
