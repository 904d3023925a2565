"""The files that a node is started with: server.properties, and where its log goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.processes.ports import reachable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from headwater.cluster.directory import NodeDirectory
    from headwater.cluster.node import Node

_MOST_REPLICAS = 3

_LOG4J = """\
appender.file.type=RollingFile
appender.file.name=file
appender.file.fileName={directory}/server.log
appender.file.filePattern={directory}/server.log.%i
appender.file.layout.type=PatternLayout
appender.file.layout.pattern=%d %p %m (%c)%n
appender.file.policies.type=Policies
appender.file.policies.size.type=SizeBasedTriggeringPolicy
appender.file.policies.size.size=10MB
appender.file.strategy.type=DefaultRolloverStrategy
appender.file.strategy.max=3
appender.console.type=Console
appender.console.name=console
appender.console.layout.type=PatternLayout
appender.console.layout.pattern=%d{{yyyy-MM-dd HH:mm:ss}} %p %m%n
rootLogger.level=info
rootLogger.appenderRef.file.ref=file
rootLogger.appenderRef.console.ref=console
rootLogger.appenderRef.console.level=error
logger.lifecycle.name=kafka.server.KafkaRaftServer
logger.lifecycle.level=info
logger.lifecycle.additivity=false
logger.lifecycle.appenderRef.file.ref=file
logger.lifecycle.appenderRef.console.ref=console
"""


def configure(node: Node, nodes: Sequence[Node], files: NodeDirectory) -> None:
    """Write the files of one of a cluster's nodes."""
    properties = server_properties(node, nodes, files.data)
    files.properties.write_text(as_text(properties), "latin-1")
    files.logging.write_text(logging_properties(files.path), "latin-1")


def server_properties(node: Node, nodes: Sequence[Node], data: Path) -> dict[str, str]:
    """Return a node's settings: where it is, who votes, and what suits a cluster of this size."""
    brokers = sum(each.is_broker for each in nodes)
    replicas = str(min(brokers, _MOST_REPLICAS))
    # One replica may be missing, and what was acknowledged is still there twice.
    in_sync = "2" if brokers >= _MOST_REPLICAS else "1"
    voters = [f"{each.id}@{_quorum_address(each)}" for each in nodes if each.is_controller]
    return {
        "process.roles": ",".join(node.roles),
        "node.id": str(node.id),
        **_listeners(node),
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": ",".join(voters),
        "log.dirs": str(data),
        # Left alone where they are Kafka's own defaults: what is set is shown as set.
        **({} if brokers == 1 else {"default.replication.factor": replicas}),
        **({} if in_sync == "1" else {"min.insync.replicas": in_sync}),
        "offsets.topic.replication.factor": replicas,
        "transaction.state.log.replication.factor": replicas,
        "transaction.state.log.min.isr": in_sync,
        "share.coordinator.state.topic.replication.factor": replicas,
        "share.coordinator.state.topic.min.isr": in_sync,
        # As in the properties that Kafka ships: a first consumer need not wait for others.
        "group.initial.rebalance.delay.ms": "0",
        **({} if node.rack is None else {"broker.rack": node.rack}),
        **node.settings,
    }


def as_text(properties: Mapping[str, str]) -> str:
    """Return Java's properties format, which is Latin-1 with escapes for everything else."""
    return "".join(f"{name}={_escape(value)}\n" for name, value in properties.items())


def logging_properties(directory: Path) -> str:
    """Return Log4j's settings: all into a file of the node, errors and its state to the output."""
    return _LOG4J.format(directory=_escape(str(directory)))


def _listeners(node: Node) -> dict[str, str]:
    bind = "" if node.host in ("0.0.0.0", "*") else _host(node.host)
    listeners = []
    if node.is_broker:
        listeners.append(f"PLAINTEXT://{bind}:{node.port}")
    if node.is_controller:
        listeners.append(f"CONTROLLER://{bind}:{node.quorum_port}")
    settings = {"listeners": ",".join(listeners)}
    if node.is_broker:
        settings["advertised.listeners"] = f"PLAINTEXT://{client_address(node)}"
    return settings


def client_address(node: Node) -> str:
    """Return the HOST:PORT by which a node is reached."""
    return f"{_host(reachable(node.host))}:{node.port}"


def _quorum_address(node: Node) -> str:
    return f"{_host(reachable(node.host))}:{node.quorum_port}"


def _host(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _escape(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    return "".join(each if each.isascii() else _unicode(each) for each in escaped)


def _unicode(character: str) -> str:
    data = character.encode("utf-16-be")
    return "".join(f"\\u{data[at]:02x}{data[at + 1]:02x}" for at in range(0, len(data), 2))
