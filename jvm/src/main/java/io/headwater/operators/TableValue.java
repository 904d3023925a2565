package io.headwater.operators;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataType;

/** The row that a table has for the key at hand, read and written at most once per call. */
final class TableValue {
    private final ValueState<InternalRow> state;
    private final DataType type;
    private final Object stored;
    private Object value;

    TableValue(ValueState<InternalRow> state, DataType type) {
        this.state = state;
        this.type = type;
        InternalRow row = state.get();
        this.stored = row == null ? null : row.get(0, type);
        this.value = stored;
    }

    /** The value as it stands; null where the table has no row. */
    Object get() {
        return value;
    }

    /** Insert or replace the row; null is a tombstone, which deletes it. */
    void set(Object changed) {
        value = changed;
    }

    void save() {
        if (value == stored) {
            return;
        }
        if (value == null) {
            state.clear();
        } else {
            state.update(Operator.row(value));
        }
    }
}
