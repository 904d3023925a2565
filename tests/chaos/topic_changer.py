"""Changes topics and ACLs of a data directory without end, and says what it begins and has done.

Run as a process of its own, to be killed: `python -m tests.chaos.topic_changer DIRECTORY SEED`.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from typing import Any

from headwater.broker.acls.acl import Acl, ResourcePattern
from headwater.broker.config import BrokerConfig
from headwater.broker.topics.topics import NewTopic, TopicRegistry
from headwater.log.manager import LogManager
from headwater.protocol.acls import AclOperation, PatternType, PermissionType, ResourceType

NOW = 1_700_000_000_000
NAMES = [f"topic-{number}" for number in range(12)]

Change = dict[str, Any]


def open_registry(directory: str) -> tuple[TopicRegistry, BrokerConfig]:
    """Open the topics of a directory, as a broker does at its start."""
    config = BrokerConfig({"log.dirs": directory})
    registry = TopicRegistry(LogManager(config.data_dir, config.log_defaults()), config)
    registry.load(NOW)
    return registry, config


def pick(registry: TopicRegistry, dice: random.Random) -> Change:
    """Choose a change that is possible now."""
    there = sorted(registry.by_name)
    absent = [name for name in NAMES if name not in registry.by_name]
    kind = dice.choice(["create", "create", "delete", "grow", "configure", "broker", "acls"])
    if kind == "acls":
        users = dice.sample(range(100), 4)
        there_now = sorted(acl.principal for acl in registry.acls)
        gone = dice.sample(there_now, min(len(there_now), 2))
        return {"kind": kind, "added": [f"User:{user}" for user in users], "removed": gone}
    if kind == "broker":
        return {"kind": kind, "retention": str(dice.randrange(1, 1000))}
    if kind == "create" and absent:
        names = dice.sample(absent, dice.randint(1, min(4, len(absent))))
        return {"kind": kind, "names": names, "partitions": dice.randint(1, 3)}
    if kind == "create" or not there:
        kind = "delete" if there else "create"
    if kind == "delete":
        return {"kind": kind, "names": dice.sample(there, dice.randint(1, min(3, len(there))))}
    if not there:
        return {"kind": "broker", "retention": "1"}
    name = dice.choice(there)
    if kind == "grow" and len(registry.by_name[name].partitions) < 8:
        return {"kind": kind, "name": name, "count": len(registry.by_name[name].partitions) + 1}
    return {"kind": "configure", "name": name, "value": str(dice.randrange(1, 1000))}


def acl_of(principal: str) -> Acl:
    """The one ACL that a principal can have here."""
    orders = ResourcePattern(ResourceType.TOPIC, PatternType.PREFIXED, "orders-")
    return Acl(orders, principal, "*", AclOperation.READ, PermissionType.ALLOW)


async def carry_out(registry: TopicRegistry, change: Change) -> None:
    """Make the change."""
    match change["kind"]:
        case "create":
            new = [NewTopic(name, change["partitions"], {}) for name in change["names"]]
            await registry.create(new)
        case "delete":
            await registry.delete([registry.by_name[name] for name in change["names"]])
        case "grow":
            await registry.add_partitions(registry.by_name[change["name"]], change["count"])
        case "configure":
            await registry.set_configs({change["name"]: {"retention.ms": change["value"]}})
        case "acls":
            await registry.store_acls(map(acl_of, change["added"]), map(acl_of, change["removed"]))
        case "broker":
            await registry.set_broker_configs({"": {"log.retention.ms": change["retention"]}})


async def main(directory: str, seed: str) -> None:
    """Change topics until killed."""
    registry, _ = open_registry(directory)
    dice = random.Random(seed)
    while True:
        change = pick(registry, dice)
        print(json.dumps(change), flush=True)
        await carry_out(registry, change)
        print("done", flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
