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
 * Follows upserts and tombstones, and gives out each row together with the value that it replaces.
 *
 * <p>Payload: the row, the table's value. Output: the row, the old value.
 */
final class Table extends Operator {
    private static final long serialVersionUID = 1L;

    private final DataType rowType;
    private final DataType valueType;
    private transient ValueState<InternalRow> table;

    Table(StructType input) {
        rowType = Layout.payload(input, 0);
        valueType = Layout.payload(input, 1);
    }

    @Override
    StructType output() {
        return fields("row", rowType).add("old", valueType, true);
    }

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        table = state("table", fields("value", valueType));
    }

    @Override
    void process(List<InternalRow> rows, TimerValues time, List<InternalRow> results) {
        TableValue current = new TableValue(table, valueType);
        for (InternalRow row : rows) {
            results.add(row(Layout.payload(row, 0, rowType), current.get()));
            current.set(Layout.payload(row, 1, valueType));
        }
        current.save();
    }
}
