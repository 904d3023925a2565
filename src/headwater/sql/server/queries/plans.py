"""Stored queries as plans that a server runs: where they begin, and what is around them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, cast

import msgspec

from headwater.plan.checks import check_plan
from headwater.plan.errors import PlanError
from headwater.plan.nodes import OnMalformed, ProcessingLogger, Start, TopicSource
from headwater.plan.plan import Plan, ProgramSettings
from headwater.sql.analysis.query.analysed import sources_of
from headwater.sql.errors import SqlError
from headwater.sql.planning.plans import plan_queries
from headwater.sql.server.properties import DEFAULTS, GUARANTEE, OFFSET_RESET
from headwater.sql.server.topics.processing_log import deserializer_of
from headwater.sql.tree.statements.creation import SourceKind
from headwater.sql.types.errors import TypeMismatchError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from headwater.plan.nodes import Node, Operator, Sink
    from headwater.plan.plan import Guarantee
    from headwater.sql.analysis.outcomes import StoreQuery
    from headwater.sql.server.config import SqlConfig

# The property of a command, or of a push query, in which its streams' ends are kept.
START_OFFSETS = "headwater.start.offsets"

Ends: TypeAlias = dict[str, dict[int, int]]
"""Where topics ended, by partition."""


def query_plan(
    name: str,
    stored: StoreQuery,
    properties: Mapping[str, str],
    config: SqlConfig,
    checkpoint: Path,
) -> Plan:
    """Return the plan of a query; raises SqlError for what cannot run.

    Streams begin where auto.offset.reset says, which for `latest` is where they ended when the
    statement was sent; tables begin at their beginning. The processing log tells of records that
    cannot be decoded, which do not stop the query.
    """
    chosen = {**DEFAULTS, **config.properties, **properties}
    guarantee: Guarantee = (
        "at_least_once" if chosen[GUARANTEE] == "at_least_once" else "exactly_once"
    )
    settings = ProgramSettings(
        config.cluster,
        config.registry,
        guarantee=guarantee,
        checkpoint_dir=checkpoint,
        spark=config.spark,
    )
    start = Start("earliest" if chosen[OFFSET_RESET] == "earliest" else "latest")
    ends = msgspec.json.decode(chosen.get(START_OFFSETS, "{}"), type=Ends, strict=False)
    try:
        plan = plan_queries(name, [stored], settings)
        query_id = name.removeprefix(f"_confluent-ksql-{config.service_id}")
        logger = ProcessingLogger(
            deserializer_of(query_id.removeprefix("query_")), config.log.includes_rows
        )
        malformed = OnMalformed(config.log.topic, logger)
        plan = _Rewriting(start, ends, malformed).plan(plan)
        check_plan(plan)
    except (PlanError, TypeMismatchError) as refusal:
        raise SqlError(str(refusal)) from refusal
    return plan


def stream_topics(stored: StoreQuery) -> tuple[str, ...]:
    """Return the topics that a query reads as streams."""
    read = sources_of(stored.query.relation)
    return tuple(
        dict.fromkeys(each.source.topic for each in read if each.kind is SourceKind.STREAM)
    )


class _Rewriting:
    """Gives sources their start; operators are data, so that those behind them are made anew."""

    def __init__(self, start: Start, ends: Ends, on_malformed: OnMalformed) -> None:
        self._start = start
        self._ends = ends
        self._on_malformed = on_malformed
        self._made: dict[int, Node] = {}

    def plan(self, plan: Plan) -> Plan:
        return replace(plan, sinks=tuple(cast("Sink", self._node(sink)) for sink in plan.sinks))

    def _node(self, node: Node) -> Node:
        made = self._made.get(id(node))
        if made is None:
            made = self._made[id(node)] = self._rewritten(node)
        return made

    def _rewritten(self, node: Node) -> Node:
        if isinstance(node, TopicSource):
            start = self._start_of(node) if node.kind == "stream" else node.start
            return replace(node, start=start, on_malformed=self._on_malformed)
        parents = tuple(cast("Operator", self._node(parent)) for parent in node.parents)
        return replace(node, parents=parents)

    def _start_of(self, source: TopicSource) -> Start:
        if all(topic in self._ends for topic in source.topics):
            return Start("offsets", offsets={topic: self._ends[topic] for topic in source.topics})
        return self._start
