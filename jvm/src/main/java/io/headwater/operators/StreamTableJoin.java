package io.headwater.operators;

import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/**
 * Lets each row of a stream meet the table as it stood when the row arrived.
 *
 * <p>Payload: the stream's row (null in a row of the table), the table's value (null in a row of
 * the stream, and in a tombstone). Output: the stream's row, the table's value.
 */
final class StreamTableJoin extends Operator {
    /** The side of the table's rows; those of the stream have any other. */
    static final int TABLE_SIDE = 0;

    private static final long serialVersionUID = 1L;

    private final DataType streamType;
    private final DataType tableType;
    private final boolean keepsUnmatched;
    private transient ValueState<InternalRow> table;

    StreamTableJoin(StructType input, boolean keepsUnmatched) {
        this.streamType = Layout.payload(input, 0);
        this.tableType = Layout.payload(input, 1);
        this.keepsUnmatched = keepsUnmatched;
    }

    @Override
    StructType output() {
        return fields("stream", streamType).add("table", tableType, true);
    }

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        table = state("table", fields("value", tableType));
    }

    @Override
    void process(List<InternalRow> rows, TimerValues time, List<InternalRow> results) {
        TableValue current = new TableValue(table, tableType);
        for (InternalRow row : rows) {
            if (Layout.side(row) == TABLE_SIDE) {
                current.set(Layout.payload(row, 1, tableType));
            } else if (keepsUnmatched || current.get() != null) {
                results.add(row(Layout.payload(row, 0, streamType), current.get()));
            }
        }
        current.save();
    }
}
