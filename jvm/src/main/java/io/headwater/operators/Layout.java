package io.headwater.operators;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** Where the fields of an operator's input row are; what follows them is each operator's own. */
final class Layout {
    /** Which of the operator's inputs the row came from. */
    static final int SIDE = 0;

    /** Which queue of that input: a number for the topic and partition. */
    static final int SOURCE = 1;

    /** The place in the queue. */
    static final int OFFSET = 2;

    /** When the row arrived, in microseconds: its record's time, or of a result that of its cause. */
    static final int TIME = 3;

    /** The first field that is the operator's own. */
    static final int PAYLOAD = 4;

    /**
     * The place of a result among those of its key in one call, and the time of the row that it came
     * of: an operator that follows takes results in this order.
     */
    static final StructType ORDER =
            new StructType()
                    .add("offset", DataTypes.LongType, false)
                    .add("time", DataTypes.LongType, false);

    private Layout() {}

    static int side(InternalRow row) {
        return row.getInt(SIDE);
    }

    static long source(InternalRow row) {
        return row.getLong(SOURCE);
    }

    static long offset(InternalRow row) {
        return row.getLong(OFFSET);
    }

    static long time(InternalRow row) {
        return row.getLong(TIME);
    }

    /** The {@link #ORDER} of a result that comes of this row, after so many others. */
    static InternalRow order(InternalRow row, int others) {
        return Operator.row((long) others, time(row));
    }

    static DataType payload(StructType input, int index) {
        return input.fields()[PAYLOAD + index].dataType();
    }

    /** One of the operator's own fields, null where the row has none. */
    static Object payload(InternalRow row, int index, DataType type) {
        int field = PAYLOAD + index;
        return row.isNullAt(field) ? null : row.get(field, type);
    }
}
