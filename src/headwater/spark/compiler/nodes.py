"""A plan's operators as DataFrames, each made once however many read from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException

from headwater.plan import nodes as plan_nodes
from headwater.plan.errors import PlanError
from headwater.plan.plan import Plan
from headwater.spark.compiler import aggregates, joins, sources, stateless

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from headwater.plan.nodes import Node, TopicSource
    from headwater.spark.formats.schemas import Schemas
    from headwater.spark.topics import RecordReader


@dataclass(frozen=True)
class NodeCompiler:
    """Compiles operators; what Spark refuses is reported at the operator's line."""

    spark: SparkSession
    reader: RecordReader
    schemas: Schemas
    _made: dict[int, DataFrame] = field(default_factory=dict)
    _raw: dict[int, DataFrame] = field(default_factory=dict)

    def rows(self, node: Node) -> DataFrame:
        """Return the records that leave an operator."""
        for each in Plan("", (node,)).walk():  # type: ignore[arg-type]
            if id(each) not in self._made:
                self._made[id(each)] = self._compiled(each)
        return self._made[id(node)]

    def raw(self, source: TopicSource) -> DataFrame:
        """Return a source's records with their bytes."""
        if id(source) not in self._raw:
            self._raw[id(source)] = self.reader.read(source)
        return self._raw[id(source)]

    def broken(self, source: TopicSource) -> DataFrame:
        """Return what a source could not decode."""
        return sources.broken_rows(source, self.raw(source), self.spark, self.schemas)

    def _compiled(self, node: Node) -> DataFrame:
        inputs = [self._made[id(parent)] for parent in node.parents]
        try:
            made = self._operator(node, inputs)
        except AnalysisException as refusal:
            raise refused_by_spark(refusal, node.location) from refusal
        return made

    def _operator(self, node: Node, inputs: list[DataFrame]) -> DataFrame:
        match node:
            case plan_nodes.TopicSource():
                rows = sources.source_rows(node, self.raw(node), self.spark, self.schemas)
                return rows if node.kind == "stream" else stateless.upserts(rows)
            case plan_nodes.Table():
                return stateless.upserts(inputs[0])
            case plan_nodes.Filter():
                return stateless.filtered(node, inputs[0])
            case plan_nodes.Split():
                return stateless.split(node, inputs[0])
            case plan_nodes.Branch():
                return stateless.branch(node, inputs[0])
            case plan_nodes.Map():
                return stateless.mapped(node, inputs[0])
            case plan_nodes.FlatMap():
                return stateless.flat_mapped(node, inputs[0])
            case plan_nodes.Merge():
                return stateless.merged(inputs)
            case plan_nodes.Observe():
                return stateless.observed(node, inputs[0])
            case plan_nodes.Repartition():
                return stateless.repartitioned(node, inputs[0])
            case plan_nodes.Aggregate():
                return aggregates.aggregated(node, inputs[0])
            case plan_nodes.StreamTableJoin():
                return joins.with_table(node, *inputs)
            case plan_nodes.StreamStreamJoin():
                return joins.with_stream(node, *inputs)
        # A table's changes as a stream, and a sink: the rows are those of the input.
        return inputs[0]


def refused_by_spark(refusal: AnalysisException, location: str) -> PlanError:
    """Say of a line of the program what Spark says of its own plan."""
    text = str(refusal.getMessage() or refusal).splitlines()[0]
    return PlanError(f"Spark refuses this: {text}", location)
