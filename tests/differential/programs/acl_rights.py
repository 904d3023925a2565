"""What every API, and random rules, let clients do who come from addresses with other rights."""

from __future__ import annotations

import dataclasses
import itertools
import random
from typing import TYPE_CHECKING, Any

from tests.differential.observation import plain
from tests.differential.program import program
from tests.differential.programs.acls import KINDS, Acl, acl, acls_for, all_rights
from tests.integration.raw_client import ConnectionClosedError
from tests.integration.raw_groups import commit
from tests.integration.raw_requests import create_topic
from tests.integration.raw_transactions import RawProducer
from tests.unit.broker.authorization_case import Case
from tests.unit.broker.authorization_cases import CASES
from tests.unit.broker.documented_rights import documented_rights
from tests.waiting import wait_for

from headwater.protocol import messages
from headwater.protocol.acls import AclOperation, PatternType, PermissionType, ResourceType
from headwater.protocol.api_keys import is_flexible
from headwater.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.differential.engine import Engine

PATIENCE_MS = 60_000


@program
def acls_every_api_without_each_right(engine: Engine, name: str) -> Any:
    """Each request of each API from an address of its own, which has other rights each time."""
    addresses = (f"127.1.{high}.{low}" for high, low in itertools.product(range(9), range(1, 250)))
    questions = list(_questions())
    asked = dict(zip(addresses, questions, strict=False))
    assert len(asked) == len(questions)
    own = [all_rights(kind, "127.0.0.1") for kind in KINDS]
    rights = [each for address, question in asked.items() for each in _rights(address, question)]
    with engine.raw() as client:
        create_topic(client, "t")
        for number, (case, _, _) in enumerate(questions):
            if "doomed" in repr(case.tree):
                create_topic(client, f"doomed-{number}")
    with acls_for(engine, own + rights):
        with engine.raw(source="127.9.9.9") as stranger:
            # Topics are deleted by the controller, which hears of the ACLs by itself.
            missing = {"topics": [{"name": name}], "timeout": PATIENCE_MS}
            wait_for(
                lambda: (
                    stranger.call("delete_topics", 6, **missing).responses[0].error_code.name
                    == "topic_authorization_failed"
                )
            )
        return [
            [case.api_key.name, how, right, _refusals(engine, address, case, number)]
            for number, (address, (case, how, right)) in enumerate(asked.items())
        ]


Question = tuple[Case, str, tuple[str, str] | None]


def _questions() -> Iterator[Question]:
    documented = documented_rights()
    for case in CASES:
        yield case, "nothing", None
        yield case, "everything", None
        for api_key, right in documented:
            if api_key is case.api_key:
                yield case, "only", right
                yield case, "all but", right


def _rights(address: str, question: Question) -> Iterator[Acl]:
    _, how, right = question
    if how in ("everything", "all but"):
        for kind in KINDS:
            yield all_rights(kind, address)
    if right is not None:
        operation, kind_name = right
        permission = PermissionType.ALLOW if how == "only" else PermissionType.DENY
        yield all_rights(ResourceType[kind_name], address) | {
            "operation": AclOperation[operation],
            "permission_type": permission,
        }


def _refusals(engine: Engine, address: str, case: Case, number: int) -> Any:
    """The codes by which an answer says that a right is missing."""
    api_key, version = case.api_key, case.version
    tree = {"timeout": PATIENCE_MS, **_renamed(case.tree, number)}
    with engine.raw(source=address) as client:
        try:
            client.send(api_key.name.lower(), version, **tree)
            frame = client.receive_frame()
        except ConnectionClosedError:
            return "closed"
    # By our own decoder: kio's refuses times that are not set.
    position = 5 if is_flexible(api_key, version) else 4
    answer = messages.decode_response(api_key, version, memoryview(frame), position)
    return sorted(set(_codes(answer)))


def _renamed(tree: Any, number: int) -> Any:
    """The request with names of its own for what it makes and destroys."""
    match tree:
        case dict():
            return {key: _renamed(value, number) for key, value in tree.items()}
        case list():
            return [_renamed(value, number) for value in tree]
        case "new" | "made" | "doomed":
            return f"{tree}-{number}"
        case _:
            return tree


def _codes(answer: Any) -> Iterator[str]:
    if isinstance(answer, tuple):
        yield from itertools.chain.from_iterable(map(_codes, answer))
    elif dataclasses.is_dataclass(answer):
        for field in dataclasses.fields(answer):
            value = getattr(answer, field.name)
            if not field.name.endswith("error_code"):
                yield from _codes(value)
            elif (name := ErrorCode(value).name).endswith("_AUTHORIZATION_FAILED"):
                yield name


@program
def acls_told_and_left_out(engine: Engine, name: str) -> Any:
    """What answers tell of a client's rights, and what they leave out for want of one."""
    operation = AclOperation
    rights: dict[str, list[AclOperation]] = {
        "127.3.0.1": [],
        "127.3.0.2": [operation.DESCRIBE],
        "127.3.0.3": [operation.READ, operation.ALTER_CONFIGS],
        "127.3.0.4": [operation.WRITE, operation.CREATE],
        "127.3.0.5": [operation.ALL],
    }
    seen, hidden = f"{name}-seen", f"{name}-hidden"
    with engine.raw() as client:
        for topic in (seen, hidden):
            create_topic(client, topic)
        for own in (seen, hidden):
            commit(client, own, {(topic, 0): 1 for topic in (seen, hidden)})
            RawProducer(client, own).init()
    granted = [all_rights(kind, "127.0.0.1") for kind in KINDS]
    for address, operations in rights.items():
        for each in operations:
            mine = [all_rights(kind, address) | {"operation": each} for kind in KINDS]
            for one in mine:
                is_named = one["resource_type"] is ResourceType.CLUSTER
                granted.append(one if is_named else one | {"resource_name": seen})
    with acls_for(engine, granted):
        return [_told(engine, address, name, seen, hidden) for address in rights]


def _told(engine: Engine, address: str, name: str, seen: str, hidden: str) -> Any:
    asks = {
        "include_topic_authorized_operations": True,
        "include_cluster_authorized_operations": True,
        "include_authorized_operations": True,
    }
    both = [{"name": seen}, {"name": hidden}]
    with engine.raw(source=address) as client:
        metadata = client.call("metadata", 10, topics=both, **asks)
        every = client.call("metadata", 12, topics=None)
        partitions = client.call(
            "describe_topic_partitions", 0, topics=both, response_partition_limit=9
        )
        offsets = client.call("offset_fetch", 8, groups=[{"group_id": seen, "topics": None}])
        groups = client.call("list_groups", 4).groups
        listed = client.call("list_transactions", 1).transaction_states
        return [
            sorted(
                (topic["name"], topic["error_code"], topic["topic_authorized_operations"])
                for answer in (metadata, partitions)
                for topic in plain(answer.topics)
            ),
            metadata.cluster_authorized_operations,
            client.call(
                "describe_cluster", 1, endpoint_type=1, **asks
            ).cluster_authorized_operations,
            sorted(
                (group.group_id, group.error_code.name, group.authorized_operations)
                for group in client.call("describe_groups", 5, groups=[seen, hidden], **asks).groups
            ),
            sorted(topic.name for topic in every.topics if topic.name.startswith(name)),
            sorted(topic.name for group in offsets.groups for topic in group.topics),
            sorted(group.group_id for group in groups if group.group_id.startswith(name)),
            sorted(x for each in listed if (x := each.transactional_id).startswith(name)),
        ]


@program
def acls_random_rules(engine: Engine, name: str) -> Any:
    """What forty addresses may do to three topics by random rules: all operations at once."""
    dice = random.Random(name)
    topics = [f"{name}-{letters}" for letters in ("a", "ab", "b")]
    patterns = [
        (kind, text)
        for text in (*topics, name, f"{name}-")
        for kind in (PatternType.LITERAL, PatternType.PREFIXED)
    ] + [(PatternType.LITERAL, "*")]
    operations = [
        each for each in AclOperation if each > AclOperation.ANY and each not in _NO_TOPIC
    ]
    addresses = [f"127.4.0.{number}" for number in range(1, 41)]
    rules = [all_rights(kind, "127.0.0.1") for kind in KINDS]
    for address in addresses:
        for _ in range(dice.randint(0, 5)):
            kind, text = dice.choice(patterns)
            rule = acl(
                text,
                resource_pattern_type=kind,
                principal=dice.choice(["User:ANONYMOUS", "User:*", "User:ann"]),
                host=address,
                operation=dice.choice(operations),
                permission_type=dice.choice([PermissionType.ALLOW] * 3 + [PermissionType.DENY]),
            )
            if rule not in rules:
                rules.append(rule)
    with engine.raw() as client:
        for topic in topics:
            create_topic(client, topic)
    asked = {
        "topics": [{"name": topic} for topic in topics],
        "include_topic_authorized_operations": True,
    }
    seen = []
    with acls_for(engine, rules):
        for address in addresses:
            with engine.raw(source=address) as client:
                answer = client.call("metadata", 10, **asked)
                producer = client.call("init_producer_id", 4, producer_id=-1, producer_epoch=-1)
                seen.append(
                    [
                        sorted(
                            (each.name, each.error_code.name, each.topic_authorized_operations)
                            for each in answer.topics
                        ),
                        producer.error_code.name,
                    ]
                )
    return seen


_NO_TOPIC = {
    AclOperation.CLUSTER_ACTION, AclOperation.IDEMPOTENT_WRITE, AclOperation.CREATE_TOKENS,
    AclOperation.DESCRIBE_TOKENS, AclOperation.TWO_PHASE_COMMIT,
}  # fmt: skip
