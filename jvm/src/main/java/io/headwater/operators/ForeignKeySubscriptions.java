package io.headwater.operators;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * The first of three parts of a foreign-key join, by the left table's key: tells the foreign key that
 * a row refers to, and the one that it referred to before, what has become of it.
 *
 * <p>Rows of the right table come through as they are, by their own key: in real-time mode two inputs
 * become one before all state, or not at all.
 *
 * <p>Payload: the left key, headers, the row's time, the foreign key, which is a right row's own, the
 * left value, the right value; a null value is a tombstone. Output: the side, the left key, headers,
 * the time, the foreign key that this is for, the values, the left row's version, the {@link
 * Subscription}, and the {@link Layout#ORDER}.
 */
final class ForeignKeySubscriptions extends Operator {
    private static final long serialVersionUID = 1L;

    private static final AtomicLong LAST_VERSION = new AtomicLong();

    private final DataType keyType;
    private final DataType headersType;
    private final DataType foreignKeyType;
    private final DataType leftType;
    private final DataType rightType;
    private final boolean keepsLeft;
    private transient ValueState<InternalRow> reference;

    ForeignKeySubscriptions(StructType input, boolean keepsLeft) {
        this.keyType = Layout.payload(input, 0);
        this.headersType = Layout.payload(input, 1);
        this.foreignKeyType = Layout.payload(input, 3);
        this.leftType = Layout.payload(input, 4);
        this.rightType = Layout.payload(input, 5);
        this.keepsLeft = keepsLeft;
    }

    @Override
    StructType output() {
        return new StructType()
                .add("side", DataTypes.IntegerType, false)
                .add("key", keyType, true)
                .add("headers", headersType, true)
                .add("event", DataTypes.LongType, false)
                .add("foreign_key", foreignKeyType, true)
                .add("left", leftType, true)
                .add("right", rightType, true)
                .add("version", DataTypes.LongType, false)
                .add("subscription", DataTypes.IntegerType, false)
                .add("order", Layout.ORDER, false);
    }

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        reference =
                state(
                        "reference",
                        fields("foreign_key", foreignKeyType)
                                .add("version", DataTypes.LongType, false));
    }

    @Override
    void process(List<InternalRow> rows, TimerValues time, List<InternalRow> results) {
        if (Layout.side(rows.get(0)) == ForeignKeySubscribers.LEFT_SIDE) {
            subscribe(rows, results);
            return;
        }
        for (InternalRow row : rows) {
            Object own = Layout.payload(row, 3, foreignKeyType);
            results.add(told(row, own, 0, Subscription.ENTER, results.size()));
        }
    }

    private void subscribe(List<InternalRow> rows, List<InternalRow> results) {
        InternalRow stored = reference.get();
        boolean isIn = stored != null;
        Object foreignKey = isIn ? value(stored, 0, foreignKeyType) : null;
        long version = isIn ? stored.getLong(1) : Long.MIN_VALUE;
        for (InternalRow row : rows) {
            boolean wasIn = isIn;
            Object before = foreignKey;
            foreignKey = Layout.payload(row, 3, foreignKeyType);
            isIn = Layout.payload(row, 4, leftType) != null && (foreignKey != null || keepsLeft);
            version = Math.max(version + 1, nextVersion());
            boolean moves = wasIn && isIn && !Objects.deepEquals(before, foreignKey);
            if (moves) {
                results.add(told(row, before, version, Subscription.LEAVE, results.size()));
                results.add(told(row, foreignKey, version, Subscription.MOVE, results.size()));
            } else if (isIn) {
                Subscription enters = wasIn ? Subscription.ENTER : Subscription.BEGIN;
                results.add(told(row, foreignKey, version, enters, results.size()));
            } else if (wasIn) {
                results.add(told(row, before, version, Subscription.DELETE, results.size()));
            }
        }
        if (isIn) {
            reference.update(row(foreignKey, version));
        } else if (stored != null) {
            reference.clear();
        }
    }

    /**
     * Returns the time in microseconds, and never the same one twice: a row that was deleted is
     * forgotten, and has to be newer when it comes again within the same moment.
     */
    private static long nextVersion() {
        long now = TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis());
        return LAST_VERSION.accumulateAndGet(now, (last, clock) -> Math.max(last + 1, clock));
    }

    private InternalRow told(
            InternalRow row, Object to, long version, Subscription subscription, int others) {
        return row(
                Layout.side(row),
                Layout.payload(row, 0, keyType),
                Layout.payload(row, 1, headersType),
                Layout.payload(row, 2, DataTypes.LongType),
                to,
                Layout.payload(row, 4, leftType),
                Layout.payload(row, 5, rightType),
                version,
                subscription.ordinal(),
                Layout.order(row, others));
    }

    private static Object value(InternalRow row, int field, DataType type) {
        return row.isNullAt(field) ? null : row.get(field, type);
    }
}
