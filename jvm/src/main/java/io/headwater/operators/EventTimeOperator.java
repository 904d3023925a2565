package io.headwater.operators;

import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * What aggregates of windows share: a fold, and windows that time closes.
 *
 * <p>Payload: the values for the fold, what is carried to the output, which ends with the columns of
 * the key. The last of the values is the row's time. Output: what is carried, the state, the window's
 * start and end, whether the row was late for it, whether the state is the window's last one of the
 * batch, and the {@link Layout#ORDER}.
 */
abstract class EventTimeOperator extends TimedOperator {
    private static final long serialVersionUID = 1L;

    /** Where in a result it says whether it is the last one. */
    static final int LAST = 5;

    final Fold fold;
    final StructType valueType;
    final StructType carriedType;
    final Emit emit;

    EventTimeOperator(StructType input, Fold fold, Emit emit) {
        this.fold = fold;
        this.emit = emit;
        this.valueType = (StructType) Layout.payload(input, 0);
        this.carriedType = (StructType) Layout.payload(input, 1);
    }

    /** Bring back what this time has closed; the results carry what is given. */
    abstract void expire(long fired, TimerValues time, InternalRow carried, List<InternalRow> results);

    @Override
    final StructType output() {
        return fields("carried", carriedType)
                .add("state", fold.fields(), true)
                .add("start", DataTypes.LongType, false)
                .add("end", DataTypes.LongType, false)
                .add("late", DataTypes.BooleanType, false)
                .add("last", DataTypes.BooleanType, false)
                .add("order", Layout.ORDER, false);
    }

    @Override
    final void expire(InternalRow key, long fired, TimerValues time, List<InternalRow> results) {
        expire(fired, time, carriedOf(key), results);
    }

    final InternalRow values(InternalRow row) {
        return (InternalRow) Layout.payload(row, 0, valueType);
    }

    final InternalRow carried(InternalRow row) {
        return (InternalRow) Layout.payload(row, 1, carriedType);
    }

    /** The row's time in microseconds. */
    final long timeOf(InternalRow values) {
        return values.getLong(valueType.length() - 1);
    }

    /** A result that time has caused. */
    static InternalRow closing(InternalRow carried, OpenWindow window, int others) {
        long end = window.end();
        InternalRow order = row((long) others, end);
        return row(carried, window.aggregate(), window.start(), end, false, true, order);
    }

    /** What is carried is the row's own, but for the key. */
    private InternalRow carriedOf(InternalRow key) {
        Object[] values = new Object[carriedType.length()];
        // Before its columns, a key has their hash.
        int columns = key.numFields() - 1;
        for (int index = 1; index <= columns; index++) {
            int field = values.length - columns + index - 1;
            DataType type = carriedType.fields()[field].dataType();
            values[field] = key.isNullAt(index) ? null : key.get(index, type);
        }
        return row(values);
    }
}
