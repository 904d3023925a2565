"""A plan's operators as DataFrames, each made once however many read from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, assert_never

from pyspark.errors import AnalysisException

from headwater.plan import nodes
from headwater.plan.errors import PlanError
from headwater.plan.graph import walk
from headwater.plan.nodes import Sink, Source, Stateful, Stateless
from headwater.plan.processing.folding import joined_with_itself
from headwater.spark.compiler import (
    aggregates,
    changes,
    joins,
    processes,
    stateless,
    suppressions,
    table_aggregates,
)
from headwater.spark.compiler.encoder import Encoder
from headwater.spark.sources.registry import reader_of
from headwater.spark.sources.topic import malformed_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from headwater.plan.nodes import Operator, StatefulOperator, StatelessOperator, TopicSource
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

    def rows(self, node: Operator) -> DataFrame:
        """Return the records that leave an operator."""
        for each in walk((node,)):
            if id(each) not in self._made:
                self._made[id(each)] = self._compiled(each)
        return self._made[id(node)]

    def raw(self, source: TopicSource) -> DataFrame:
        """Return a source's records with their bytes."""
        if id(source) not in self._raw:
            self._raw[id(source)] = self.reader.read(source)
        return self._raw[id(source)]

    def malformed(self, source: TopicSource) -> DataFrame:
        """Return what a source could not decode."""
        return malformed_rows(source, self.raw(source), self.spark, self.schemas)

    @property
    def encoder(self) -> Encoder:
        """What makes records of rows."""
        return Encoder(self.spark, self.schemas)

    def _compiled(self, node: Operator) -> DataFrame:
        inputs = [self._made[id(parent)] for parent in node.parents]
        try:
            made = self._operator(node, inputs)
        except AnalysisException as refusal:
            raise refused_by_spark(refusal, node.location) from refusal
        return made

    def _operator(self, node: Operator, inputs: list[DataFrame]) -> DataFrame:
        match node:
            case Source():
                return reader_of(node).rows(node, self)
            case Stateless():
                return _stateless(node, inputs)
            case nodes.StreamStreamJoin() if (start := joined_with_itself(node)) is not None:
                return joins.with_itself(node, start, self._made[id(start)])
            case Stateful():
                return _stateful(node, inputs, self.reader)
            case Sink():
                return inputs[0]
            case _:
                assert_never(node)


def _stateless(node: StatelessOperator, inputs: list[DataFrame]) -> DataFrame:
    match node:
        case nodes.Filter():
            return stateless.filtered(node, inputs[0])
        case nodes.Split():
            return stateless.split(node, inputs[0])
        case nodes.Branch():
            return stateless.branch(node, inputs[0])
        case nodes.Map():
            return stateless.mapped(node, inputs[0])
        case nodes.FlatMap():
            return stateless.flat_mapped(node, inputs[0])
        case nodes.Merge():
            return stateless.merged(inputs)
        case nodes.Peek():
            return stateless.called(node.function, inputs[0])
        case nodes.Repartition():
            return stateless.repartitioned(node, inputs[0])
        case nodes.Table():
            return stateless.upserts(inputs[0])
        case nodes.TableFilter():
            return changes.filtered(node, inputs[0])
        case nodes.ToStream():
            return changes.as_records(inputs[0])
        case _:
            assert_never(node)


def _stateful(node: StatefulOperator, inputs: list[DataFrame], reader: RecordReader) -> DataFrame:
    match node:
        case nodes.Aggregate():
            return aggregates.aggregated(node, inputs[0])
        case nodes.Changes():
            return changes.with_old_values(inputs[0])
        case nodes.TableAggregate():
            return table_aggregates.regrouped(node, inputs[0])
        case nodes.StreamTableJoin():
            return joins.with_table(node, *inputs)
        case nodes.TableTableJoin():
            return joins.of_tables(node, *inputs)
        case nodes.ForeignKeyJoin():
            return joins.by_foreign_key(node, *inputs)
        case nodes.Suppress():
            return suppressions.held_back(node, inputs[0])
        case nodes.Process():
            return processes.processed(node, inputs[0], reader)
        case nodes.StreamStreamJoin():
            return joins.with_stream(node, *inputs)
        case _:
            assert_never(node)


def refused_by_spark(refusal: AnalysisException, location: str) -> PlanError:
    """Say of a line of the program what Spark says of its own plan."""
    text = str(refusal.getMessage() or refusal).splitlines()[0]
    return PlanError(f"Spark refuses this: {text}", location)
