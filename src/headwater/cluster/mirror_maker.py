"""Apache Kafka's MirrorMaker, which copies topics and groups to other clusters: files and command.

files = MirrorMakerFiles(folder)
files.write(one_way("localhost:9092", "kafka:9092"))
ChildProcess(files.command())
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.cluster.connect_worker import LOG4J, logging_options
from headwater.cluster.kafka import VERSION, java_command, jvm_options
from headwater.cluster.server_properties import as_text
from headwater.java.artifacts import fetch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

DEFAULTS = {
    # As many replicas as the brokers' default says; Kafka's own are two and three, which one
    # broker has not.
    "replication.factor": "-1",
    "checkpoints.topic.replication.factor": "-1",
    "heartbeats.topic.replication.factor": "-1",
    "offset-syncs.topic.replication.factor": "-1",
    "config.storage.replication.factor": "-1",
    "offset.storage.replication.factor": "-1",
    "status.storage.replication.factor": "-1",
}
"""What is said to MirrorMaker where its user says nothing."""

DEFAULTS_OF_CLUSTER = {
    # What was copied since then is copied again after a kill; Kafka's own is a minute.
    "offset.flush.interval.ms": "10000",
}
"""The same of each cluster, under its alias: elsewhere MirrorMaker takes no notice of it."""

IDENTITY_POLICY = "org.apache.kafka.connect.mirror.IdentityReplicationPolicy"
STARTED = "Kafka MirrorMaker started"
"""The line of its log that says so."""

_MAIN = "org.apache.kafka.connect.mirror.MirrorMaker"
_LOG4J = f"""\
{LOG4J}\
logger.mirror.name={_MAIN}
logger.mirror.level=info
"""
_JARS = (
    f"org.apache.kafka:connect-mirror:{VERSION}",
    f"org.apache.kafka:connect-mirror-client:{VERSION}",
)


@dataclass(frozen=True)
class Flow:
    """Topics go from one cluster to another; both are known by their aliases."""

    source: str
    target: str

    def __str__(self) -> str:
        return f"{self.source}->{self.target}"


class MirrorMakerFiles:
    """The folder with all that MirrorMaker is started with, passwords among it."""

    def __init__(self, folder: Path) -> None:
        self._properties = folder / "mm2.properties"
        self._logging = folder / "mirror-log4j2.properties"

    def write(self, settings: Mapping[str, str]) -> None:
        """Write the settings, and defaults for what they leave open."""
        self._properties.write_text(as_text(with_defaults(settings)), "latin-1")
        self._logging.write_text(_LOG4J, "latin-1")

    def command(self, targets: Sequence[str] = ()) -> list[str]:
        """Return the command that runs it; with `targets` it writes to these clusters alone."""
        only = ("--clusters", *targets) if targets else ()
        jars = fetch(f"kafka-mirror-maker-{VERSION}", _JARS, transitive=False)
        return java_command(
            _MAIN,
            str(self._properties),
            *only,
            options=(*jvm_options(), *logging_options(self._logging)),
            beside=jars,
        )


def flows(settings: Mapping[str, str], targets: Sequence[str] = ()) -> list[Flow]:
    """Return what is to be copied where: each `A->B.enabled`; raises ValueError with the reason.

    With `targets` it is what goes to these clusters alone.

    >>> servers = {"a.bootstrap.servers": "one:9092", "b.bootstrap.servers": "two:9092"}
    >>> flows({"clusters": "a, b", **servers, "a->b.enabled": "true"})
    [Flow(source='a', target='b')]
    """
    aliases = _aliases(settings)
    if not aliases:
        raise ValueError("`clusters` is missing: the names of the clusters, as in clusters = A, B")
    for alias in aliases:
        if f"{alias}.bootstrap.servers" not in settings:
            raise ValueError(f"{alias}.bootstrap.servers is missing: where cluster {alias} is")
    for target in targets:
        if target not in aliases:
            raise ValueError(f"`clusters` does not name {target}, but {', '.join(aliases)}")
    found = []
    for name, text in settings.items():
        direction = re.fullmatch(r"(.+)->([^.]+)\.enabled", name)
        if direction is None:
            continue
        for alias in direction.groups():
            if alias not in aliases:
                raise ValueError(
                    f"{name}: `clusters` does not name {alias}, but {', '.join(aliases)}"
                )
        if text.strip().lower() == "true" and (not targets or direction[2] in targets):
            found.append(Flow(*direction.groups()))
    if not found:
        raise ValueError(
            f"nothing is to be copied; {aliases[0]}->{aliases[-1]}.enabled = true would do so"
        )
    return found


def with_defaults(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings, and what is said where they say nothing.

    >>> with_defaults({"clusters": "a"})["a.offset.flush.interval.ms"]
    '10000'
    """
    of_clusters = {
        f"{alias}.{name}": text
        for alias in _aliases(settings)
        for name, text in DEFAULTS_OF_CLUSTER.items()
    }
    return {**DEFAULTS, **of_clusters, **settings}


def of_cluster(settings: Mapping[str, str], alias: str) -> dict[str, str]:
    """Return what the settings say of one cluster's clients, without the prefix.

    >>> of_cluster({"a.bootstrap.servers": "localhost:9092", "b.client.id": "me"}, "a")
    {'bootstrap.servers': 'localhost:9092'}
    """
    prefix = f"{alias}."
    return {
        name.removeprefix(prefix): text
        for name, text in settings.items()
        if name.startswith(prefix)
    }


def one_way(
    source: Mapping[str, str], target: Mapping[str, str], *, alias: str, has_same_names: bool
) -> dict[str, str]:
    """Return settings that copy from one cluster to another, each given as its clients' settings.

    The source's `alias` is the beginning of its topics' names in the target, unless they keep
    their names.
    """
    flow = Flow(alias, "target")
    settings = {
        "clusters": f"{flow.source}, {flow.target}",
        **{f"{flow.source}.{name}": text for name, text in source.items()},
        **{f"{flow.target}.{name}": text for name, text in target.items()},
        f"{flow}.enabled": "true",
        f"{flow}.sync.group.offsets.enabled": "true",
        # Kafka's own are a minute and ten of them, for clusters with thousands of topics.
        "refresh.topics.interval.seconds": "30",
        "refresh.groups.interval.seconds": "30",
        "emit.checkpoints.interval.seconds": "10",
        "sync.group.offsets.interval.seconds": "10",
        # Else MirrorMaker writes topics of its own to the source as well.
        f"{flow.target}->{flow.source}.emit.heartbeats.enabled": "false",
    }
    if has_same_names:
        settings["replication.policy.class"] = IDENTITY_POLICY
    return settings


def _aliases(settings: Mapping[str, str]) -> list[str]:
    return [each for each in re.split(r"[,\s]+", settings.get("clusters", "")) if each]
