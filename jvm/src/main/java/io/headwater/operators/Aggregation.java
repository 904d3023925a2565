package io.headwater.operators;

import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Folds all rows of a key into one state and gives out the state after each row.
 *
 * <p>Payload: the values for the fold, what is carried to the output. Output: what is carried, the
 * state, whether it is the last one of the batch, and the {@link Layout#ORDER}.
 */
final class Aggregation extends Operator {
    private static final long serialVersionUID = 1L;

    private final Fold fold;
    private final StructType valueType;
    private final DataType carriedType;
    private transient ValueState<InternalRow> aggregate;

    Aggregation(StructType input, Fold fold) {
        this.fold = fold;
        this.valueType = (StructType) Layout.payload(input, 0);
        this.carriedType = Layout.payload(input, 1);
    }

    @Override
    StructType output() {
        return fields("carried", carriedType)
                .add("state", fold.fields(), true)
                .add("last", DataTypes.BooleanType, false)
                .add("order", Layout.ORDER, false);
    }

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        aggregate = state("aggregate", fold.fields());
    }

    @Override
    void process(List<InternalRow> rows, TimerValues time, List<InternalRow> results) {
        InternalRow current = aggregate.get();
        int left = rows.size();
        for (InternalRow row : rows) {
            left--;
            current = fold.after(current, (InternalRow) Layout.payload(row, 0, valueType));
            InternalRow order = Layout.order(row, results.size());
            results.add(row(Layout.payload(row, 1, carriedType), current, left == 0, order));
        }
        aggregate.update(current);
    }
}
