package io.headwater.operators;

import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.classic.KeyValueGroupedDataset;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/**
 * What Python calls: a DataFrame in, a DataFrame out.
 *
 * <p>The input has a column {@code row}, a struct laid out as {@link Layout} says, and after it the
 * columns of the key. The output has the column {@code row}, with the fields that the operator
 * documents.
 */
public final class Operators {
    private static final String ROW = "row";

    /**
     * Spark's optimiser renumbers the fields of a struct when it leaves out those that nobody reads,
     * and does so even where the struct comes from an encoder like ours, which hands over the whole
     * of it. Fields would be read from the wrong places.
     */
    private static final String NESTED_PRUNING =
            "spark.sql.optimizer.serializer.nestedSchemaPruning.enabled";

    private Operators() {}

    /** See {@link StreamTableJoin}. */
    public static Dataset<Row> streamTableJoin(Dataset<Row> input, boolean keepsUnmatched) {
        return apply(input, new StreamTableJoin(fields(input), keepsUnmatched), TimeMode.None());
    }

    /** See {@link TableTableJoin}. */
    public static Dataset<Row> tableTableJoin(
            Dataset<Row> input, boolean keepsLeft, boolean keepsRight, boolean onlyLast) {
        return apply(
                input,
                new TableTableJoin(fields(input), keepsLeft, keepsRight, onlyLast),
                TimeMode.None());
    }

    /** See {@link StreamStreamJoin}; all lengths of time are in microseconds. */
    public static Dataset<Row> streamStreamJoin(
            Dataset<Row> input,
            long before,
            long after,
            long grace,
            boolean keepsLeft,
            boolean keepsRight,
            boolean atOnce,
            boolean hasWatermark) {
        JoinSpan span = new JoinSpan(before, after, grace);
        return apply(
                input,
                new StreamStreamJoin(fields(input), span, keepsLeft, keepsRight, atOnce),
                hasWatermark ? TimeMode.EventTime() : TimeMode.None());
    }

    /** See {@link ForeignKeySubscriptions}. */
    public static Dataset<Row> foreignKeySubscriptions(Dataset<Row> input, boolean keepsLeft) {
        return apply(input, new ForeignKeySubscriptions(fields(input), keepsLeft), TimeMode.None());
    }

    /** See {@link ForeignKeySubscribers}. */
    public static Dataset<Row> foreignKeySubscribers(
            Dataset<Row> input, boolean keepsLeft, boolean onlyLast) {
        return apply(
                input,
                new ForeignKeySubscribers(fields(input), keepsLeft, onlyLast),
                TimeMode.None());
    }

    /** See {@link ForeignKeyResponses}. */
    public static Dataset<Row> foreignKeyResponses(
            Dataset<Row> input, boolean onlyLast, boolean repeatsEnds) {
        return apply(
                input,
                new ForeignKeyResponses(fields(input), onlyLast, repeatsEnds),
                TimeMode.None());
    }

    /** See {@link Suppression}; the limit is in microseconds. */
    public static Dataset<Row> suppression(
            Dataset<Row> input, long limit, long maxRecords, long maxBytes, boolean emitsEarly) {
        return apply(
                input,
                new Suppression(fields(input), limit, maxRecords, maxBytes, emitsEarly),
                TimeMode.None());
    }

    /** See {@link Table}. */
    public static Dataset<Row> table(Dataset<Row> input) {
        return apply(input, new Table(fields(input)), TimeMode.None());
    }

    /** See {@link Aggregation}. */
    public static Dataset<Row> aggregation(
            Dataset<Row> input, String stateJson, List<String> updates) {
        return apply(
                input,
                new Aggregation(fields(input), fold(input, stateJson, updates)),
                TimeMode.None());
    }

    /** See {@link WindowedAggregation}; all lengths of time are in microseconds. */
    public static Dataset<Row> windowedAggregation(
            Dataset<Row> input,
            String stateJson,
            List<String> updates,
            long size,
            long advance,
            long grace,
            String emit,
            boolean hasWatermark) {
        Fold fold = fold(input, stateJson, updates);
        Windows windows = new Windows(size, advance, grace);
        return applyInEventTime(
                input,
                new WindowedAggregation(fields(input), fold, windows, Emit.of(emit)),
                hasWatermark);
    }

    /** See {@link SessionAggregation}; the merges name the later session's state as {@code row}. */
    public static Dataset<Row> sessionAggregation(
            Dataset<Row> input,
            String stateJson,
            List<String> updates,
            List<String> merges,
            long gap,
            long grace,
            String emit,
            boolean hasWatermark) {
        Fold fold = fold(input, stateJson, updates);
        StructType state = fold.fields();
        Fold merge = Fold.of(classic(input).sparkSession(), state, state, merges);
        return applyInEventTime(
                input,
                new SessionAggregation(fields(input), fold, merge, gap, grace, Emit.of(emit)),
                hasWatermark);
    }

    /** See {@link SlidingAggregation}. */
    public static Dataset<Row> slidingAggregation(
            Dataset<Row> input,
            String stateJson,
            List<String> updates,
            long difference,
            long grace,
            String emit,
            boolean hasWatermark) {
        Fold fold = fold(input, stateJson, updates);
        return applyInEventTime(
                input,
                new SlidingAggregation(fields(input), fold, difference, grace, Emit.of(emit)),
                hasWatermark);
    }

    private static Dataset<Row> applyInEventTime(
            Dataset<Row> input, EventTimeOperator operator, boolean hasWatermark) {
        // A result that no other replaces belongs to a query that only adds.
        OutputMode mode = operator.emit == Emit.FINAL ? OutputMode.Append() : OutputMode.Update();
        return apply(input, operator, hasWatermark ? TimeMode.EventTime() : TimeMode.None(), mode);
    }

    private static Dataset<Row> apply(Dataset<Row> input, Operator operator, TimeMode timeMode) {
        return apply(input, operator, timeMode, OutputMode.Update());
    }

    private static Dataset<Row> apply(
            Dataset<Row> input, Operator operator, TimeMode timeMode, OutputMode outputMode) {
        input.sparkSession().conf().set(NESTED_PRUNING, false);
        List<Attribute> columns = CollectionConverters.asJava(classic(input).logicalPlan().output());
        List<Attribute> keys = columns.subList(1, columns.size());
        StructType keyFields = new StructType();
        for (Attribute key : keys) {
            keyFields = keyFields.add(key.name(), key.dataType(), key.nullable());
        }
        return new KeyValueGroupedDataset<>(
                        StructEncoder.ofColumns(keyFields),
                        StructEncoder.of(ROW, fields(input)),
                        classic(input).queryExecution(),
                        StructEncoder.seq(columns.subList(0, 1)),
                        StructEncoder.seq(keys))
                .transformWithState(
                        operator,
                        timeMode,
                        outputMode,
                        StructEncoder.of(ROW, operator.output()))
                .toDF();
    }

    private static Fold fold(Dataset<Row> input, String stateJson, List<String> updates) {
        StructType state = (StructType) DataType.fromJson(stateJson);
        StructType values = (StructType) Layout.payload(fields(input), 0);
        return Fold.of(classic(input).sparkSession(), state, values, updates);
    }

    private static StructType fields(Dataset<Row> input) {
        return (StructType) input.schema().apply(0).dataType();
    }

    private static org.apache.spark.sql.classic.Dataset<Row> classic(Dataset<Row> data) {
        return (org.apache.spark.sql.classic.Dataset<Row>) data;
    }
}
