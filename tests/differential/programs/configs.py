"""Settings: their names, defaults and origins, and what happens when they are changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType
from tests.differential.engine import WITHIN_S
from tests.differential.observation import outcome, plain
from tests.differential.program import program
from tests.integration.raw_requests import create_topic, produce
from tests.integration.record_batches import batch_of
from tests.waiting import wait_for

if TYPE_CHECKING:
    from tests.differential.engine import Engine
    from tests.integration.raw_client import RawClient

TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = 0, 1, 2, 3
OF_THIS_NODE = (
    "advertised.listeners",
    "controller.quorum.voters",
    "listeners",
    "log.dir",
    "log.dirs",
)


def described(
    client: RawClient,
    kind: int,
    name: str,
    keys: list[str] | None = None,
    version: int = 4,
    *,
    documentation: bool = False,
) -> Any:
    """DescribeConfigs of one resource: its settings by name."""
    answer = client.call(
        "describe_configs",
        version,
        resources=[{"resource_type": kind, "resource_name": name, "configuration_keys": keys}],
        include_synonyms=True,
        include_documentation=documentation,
    )
    (result,) = plain(answer.results)
    configs = {config["name"]: config for config in result.pop("configs") or ()}
    for config in configs.values():
        if config.get("documentation") is not None:
            config["documentation"] = "(documentation)"
    return result | {"settings": configs}


def alter(
    client: RawClient, kind: int, name: str, *changes: tuple[int, str, str | None], **more: Any
) -> Any:
    """IncrementalAlterConfigs of one resource."""
    answer = client.call(
        "incremental_alter_configs",
        1,
        resources=[
            {
                "resource_type": kind,
                "resource_name": name,
                "configs": [
                    {"name": n, "config_operation": operation, "value": v}
                    for operation, n, v in changes
                ],
            }
        ],
        **more,
    )
    return plain(answer.responses)


def value_of(client: RawClient, kind: int, name: str, key: str) -> Any:
    found = described(client, kind, name, [key])["settings"]
    return found[key]["value"] if key in found else None


def waited(client: RawClient, kind: int, name: str, key: str, value: str | None) -> Any:
    """The setting when it has the value: Kafka tells its broker half a moment later."""
    wait_for(lambda: value_of(client, kind, name, key), until=lambda found: found == value)
    return described(client, kind, name, [key])["settings"]


@program
def configs_of_a_topic(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name)
        return described(client, TOPIC, name, documentation=True)


@program
def configs_of_a_topic_with_own_settings(engine: Engine, name: str) -> Any:
    own = {"retention.ms": "1000", "cleanup.policy": "compact", "max.message.bytes": "2000"}
    with engine.raw() as client:
        create_topic(client, name, configs=own)
        return described(client, TOPIC, name)


@program
def configs_every_version(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name, configs={"retention.ms": "1000"})
        keys = ["retention.ms", "segment.bytes", "no.such.setting"]
        return [described(client, TOPIC, name, keys, version) for version in (1, 2, 3, 4)]


@program
def configs_of_the_broker(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        found = described(client, BROKER, "1")
        for own in OF_THIS_NODE:
            found["settings"].get(own, {}).pop("value", None)
            found["settings"].get(own, {}).pop("synonyms", None)
        return found


@program
def configs_of_the_default_broker(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        return described(client, BROKER, "")


@program
def configs_of_internal_topics(engine: Engine, name: str) -> Any:
    keys = ["cleanup.policy", "compression.type", "segment.bytes", "min.insync.replicas",
            "unclean.leader.election.enable"]  # fmt: skip
    with engine.raw() as client:
        return [
            described(client, TOPIC, topic, keys)
            for topic in ("__consumer_offsets", "__transaction_state")
        ]


@program
def configs_of_unknowns(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        return [
            described(client, TOPIC, f"{name}-ghost"),
            described(client, TOPIC, ""),
            described(client, TOPIC, "bad name"),
            described(client, BROKER, "77"),
            described(client, BROKER, "one"),
            described(client, 99, "x"),
        ]


@program
def configs_of_a_group(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        return described(client, GROUP, f"{name}-group")


@program
def configs_of_the_loggers(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        found = described(client, BROKER_LOGGER, "1")
        return found["error_code"], "root" in found["settings"]


@program
def configs_of_client_metrics(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        return described(client, CLIENT_METRICS, f"{name}-metrics")


@program
def configs_set_append_subtract_delete(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name)
        return [
            alter(client, TOPIC, name, (SET, "retention.ms", "5000")),
            waited(client, TOPIC, name, "retention.ms", "5000"),
            alter(client, TOPIC, name, (APPEND, "cleanup.policy", "compact")),
            waited(client, TOPIC, name, "cleanup.policy", "delete,compact"),
            alter(client, TOPIC, name, (SUBTRACT, "cleanup.policy", "delete")),
            waited(client, TOPIC, name, "cleanup.policy", "compact"),
            alter(client, TOPIC, name, (DELETE, "retention.ms", None)),
            waited(client, TOPIC, name, "retention.ms", "-1"),
            alter(client, TOPIC, name, (DELETE, "retention.ms", None)),
        ]


@program
def configs_refused_changes(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name)
        changes = [
            (SET, "retention.ms", "soon"),
            (SET, "retention.ms", None),
            (SET, "no.such.setting", "1"),
            (DELETE, "no.such.setting", None),
            (APPEND, "retention.ms", "5"),
            (SUBTRACT, "retention.ms", "5"),
            (9, "retention.ms", "5"),
            (SET, "cleanup.policy", "shred"),
            (APPEND, "cleanup.policy", "shred"),
            (APPEND, "cleanup.policy", "delete"),
            (SUBTRACT, "cleanup.policy", "compact"),
            (SUBTRACT, "cleanup.policy", "delete"),
            (SET, "min.insync.replicas", "0"),
        ]
        answers = [alter(client, TOPIC, name, change) for change in changes]
        return answers, alter(
            client, TOPIC, name, (SET, "retention.ms", "1"), (SET, "retention.ms", "2")
        )


@program
def configs_of_a_topic_that_is_not_there_are_not_changed(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        return [
            alter(client, TOPIC, f"{name}-ghost", (SET, "retention.ms", "1")),
            alter(client, TOPIC, f"{name}-ghost", (SET, "retention.ms", "soon")),
            alter(client, TOPIC, f"{name}-ghost", (SET, "no.such.setting", "1")),
            alter(client, TOPIC, "", (SET, "retention.ms", "1")),
            alter(client, 99, "x", (SET, "retention.ms", "1")),
        ]


@program
def configs_all_or_nothing(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name)
        answer = alter(
            client, TOPIC, name, (SET, "retention.ms", "7000"), (SET, "segment.bytes", "bad")
        )
        return answer, value_of(client, TOPIC, name, "retention.ms")


@program
def configs_validate_only(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name)
        return [
            alter(client, TOPIC, name, (SET, "retention.ms", "7000"), validate_only=True),
            alter(client, TOPIC, name, (SET, "retention.ms", "bad"), validate_only=True),
            value_of(client, TOPIC, name, "retention.ms"),
        ]


@program
def configs_old_alter_replaces_all(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name, configs={"retention.ms": "1000", "segment.ms": "5000"})
        answer = client.call(
            "alter_configs",
            2,
            resources=[
                {
                    "resource_type": TOPIC,
                    "resource_name": name,
                    "configs": [{"name": "segment.ms", "value": "6000"}],
                }
            ],
        )
        return (
            plain(answer.responses),
            waited(client, TOPIC, name, "segment.ms", "6000"),
            waited(client, TOPIC, name, "retention.ms", "-1"),
        )


@program
def configs_same_resource_twice(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name)
        resource = {
            "resource_type": TOPIC,
            "resource_name": name,
            "configs": [{"name": "retention.ms", "config_operation": SET, "value": "1"}],
        }
        return plain(
            client.call("incremental_alter_configs", 1, resources=[resource, resource]).responses
        )


@program
def configs_of_the_broker_change_while_it_runs(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        steps = [
            alter(client, BROKER, "1", (SET, "log.cleaner.threads", "2")),
            waited(client, BROKER, "1", "log.cleaner.threads", "2"),
            alter(client, BROKER, "", (SET, "log.cleaner.threads", "1")),
            alter(client, BROKER, "1", (DELETE, "log.cleaner.threads", None)),
        ]
        wait_for(lambda: value_of(client, BROKER, "1", "log.cleaner.threads") == "1")
        steps.append(described(client, BROKER, "1", ["log.cleaner.threads"]))
        steps.append(described(client, BROKER, "", ["log.cleaner.threads"]))
        steps.append(alter(client, BROKER, "", (DELETE, "log.cleaner.threads", None)))
        wait_for(lambda: "log.cleaner.threads" not in described(client, BROKER, "")["settings"])
        return steps


@program
def configs_broker_default_reaches_topics(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name)
        alter(client, BROKER, "", (SET, "log.index.interval.bytes", "5000"))
        seen = waited(client, TOPIC, name, "index.interval.bytes", "5000")
        alter(client, BROKER, "", (DELETE, "log.index.interval.bytes", None))
        return seen, waited(client, TOPIC, name, "index.interval.bytes", "4096")


@program
def configs_read_only_of_the_broker(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        return [
            alter(client, BROKER, "1", (SET, key, value))
            for key, value in (
                ("node.id", "5"),
                ("auto.create.topics.enable", "false"),
                ("log.cleaner.threads", "none"),
                ("log.cleaner.threads", "0"),
            )
        ]


@program
def configs_unknown_to_the_broker(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        answer = alter(client, BROKER, "1", (SET, "no.such.setting", "1"))
        alter(client, BROKER, "1", (DELETE, "no.such.setting", None))
        wait_for(lambda: "no.such.setting" not in described(client, BROKER, "1")["settings"])
        return answer


@program
def configs_min_insync_above_the_replicas(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        answer = alter(client, TOPIC, name, (SET, "min.insync.replicas", "3"))
        waited(client, TOPIC, name, "min.insync.replicas", "3")
        return answer, plain(produce(client, topic, batch_of([b"x"])).error_code)


@program
def configs_hold_at_once(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        alter(client, TOPIC, name, (SET, "max.message.bytes", "500"))
        big = batch_of([b"x" * 1000])
        wait_for(lambda: produce(client, topic, big).error_code.name != "none")
        refused = plain(produce(client, topic, big).error_code)
        alter(client, TOPIC, name, (DELETE, "max.message.bytes", None))
        wait_for(lambda: produce(client, topic, big).error_code.name == "none")
        return refused


@program
def configs_list_resources(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name)
        answer = client.call("list_config_resources", 1, resource_types=[TOPIC])
        topics = [r.resource_name for r in answer.config_resources if r.resource_name == name]
        return (
            plain(answer.error_code),
            topics,
            [
                plain(client.call("list_config_resources", 1, resource_types=[kind]).error_code)
                for kind in (BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP, 99)
            ],
        )


@program
def configs_by_confluent(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name)
    admin = engine.admin()

    def change(operation: AlterConfigOpType, key: str, value: str | None) -> Any:
        entry = ConfigEntry(key, value, incremental_operation=operation)
        resource = ConfigResource(ResourceType.TOPIC, name, incremental_configs=[entry])
        return outcome(
            lambda: admin.incremental_alter_configs([resource])[resource].result(WITHIN_S)
        )

    def now() -> Any:
        resource = ConfigResource(ResourceType.TOPIC, name)
        found = admin.describe_configs([resource])[resource].result(WITHIN_S)
        return {
            key: [entry.value, entry.source, entry.is_default, entry.is_read_only,
                  entry.is_sensitive, sorted(entry.synonyms)]
            for key, entry in found.items()
        }  # fmt: skip

    steps = [now(), change(AlterConfigOpType.SET, "retention.ms", "1234")]
    wait_for(lambda: now()["retention.ms"][0] == "1234")
    steps += [now(), change(AlterConfigOpType.SET, "retention.ms", "never")]
    return steps
