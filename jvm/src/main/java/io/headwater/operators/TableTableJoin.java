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
 * Joins two tables: each row of either gives the pair as it then stands, or says that it is gone.
 *
 * <p>Payload: what is carried to the output, the row's time, the left value, the right value; a
 * null value is a tombstone. Output: what is carried of the row that changed something, both values, the time of
 * the later one, whether the pair is gone, and the {@link Layout#ORDER}.
 */
final class TableTableJoin extends Operator {
    /** The side of the left table's rows; those of the right one have any other. */
    static final int LEFT_SIDE = 0;

    private static final long serialVersionUID = 1L;

    private final DataType carriedType;
    private final DataType leftType;
    private final DataType rightType;
    private final boolean keepsLeft;
    private final boolean keepsRight;
    private final boolean onlyLast;
    private transient ValueState<InternalRow> tables;

    TableTableJoin(StructType input, boolean keepsLeft, boolean keepsRight, boolean onlyLast) {
        this.carriedType = Layout.payload(input, 0);
        this.leftType = Layout.payload(input, 2);
        this.rightType = Layout.payload(input, 3);
        this.keepsLeft = keepsLeft;
        this.keepsRight = keepsRight;
        this.onlyLast = onlyLast;
    }

    @Override
    StructType output() {
        return fields("carried", carriedType)
                .add("left", leftType, true)
                .add("right", rightType, true)
                .add("time", DataTypes.LongType, false)
                .add("gone", DataTypes.BooleanType, false)
                .add("order", Layout.ORDER, false);
    }

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        tables =
                state(
                        "tables",
                        fields("left", leftType)
                                .add("left_time", DataTypes.LongType, true)
                                .add("right", rightType, true)
                                .add("right_time", DataTypes.LongType, true));
    }

    @Override
    void process(List<InternalRow> rows, TimerValues time, List<InternalRow> results) {
        InternalRow stored = tables.get();
        Side left = new Side(stored, 0, leftType);
        Side right = new Side(stored, 2, rightType);
        boolean wasThere = isPair(left, right);
        InternalRow last = null;
        boolean before = wasThere;
        for (InternalRow row : rows) {
            if (Layout.side(row) == LEFT_SIDE) {
                left.set(Layout.payload(row, 2, leftType), timeOf(row));
            } else {
                right.set(Layout.payload(row, 3, rightType), timeOf(row));
            }
            boolean isThere = isPair(left, right);
            if (isThere || before) {
                last = result(row, left, right, !isThere, results.size());
                if (!onlyLast) {
                    results.add(last);
                }
            }
            before = isThere;
        }
        // What came and went within one batch was never seen.
        if (onlyLast && last != null && (before || wasThere)) {
            results.add(last);
        }
        if (left.value != null || right.value != null) {
            tables.update(row(left.value, left.storedTime(), right.value, right.storedTime()));
        } else if (stored != null) {
            tables.clear();
        }
    }

    private boolean isPair(Side left, Side right) {
        return left.value != null && (right.value != null || keepsLeft)
                || right.value != null && keepsRight;
    }

    private InternalRow result(InternalRow row, Side left, Side right, boolean gone, int index) {
        long later = Math.max(timeOf(row), Math.max(left.time, right.time));
        return row(
                Layout.payload(row, 0, carriedType),
                left.value,
                right.value,
                later,
                gone,
                Layout.order(row, index));
    }

    private static long timeOf(InternalRow row) {
        return (long) Layout.payload(row, 1, DataTypes.LongType);
    }

    /** What one of the tables has for the key at hand, and since when. */
    private static final class Side {
        private Object value;
        private long time = Long.MIN_VALUE;

        Side(InternalRow stored, int index, DataType type) {
            if (stored != null && !stored.isNullAt(index)) {
                value = stored.get(index, type);
                time = stored.getLong(index + 1);
            }
        }

        void set(Object changed, long at) {
            value = changed;
            time = changed == null ? Long.MIN_VALUE : at;
        }

        Long storedTime() {
            return value == null ? null : time;
        }
    }
}
