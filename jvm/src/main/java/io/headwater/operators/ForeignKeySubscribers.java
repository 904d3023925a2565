package io.headwater.operators;

import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.Tuple2;
import scala.collection.Iterator;

/**
 * The second of three parts of a foreign-key join, by foreign key: keeps the right row and all left
 * rows that refer to it, and gives their pairs when either changes.
 *
 * <p>Payload: the left key, headers, the row's time, the left value, the right value, the left row's
 * version, its {@link Subscription}, whether it refers to anything. Output: the left key, headers, the
 * time of the later of the two rows, both values, version, subscription, whether there is a pair, and
 * the {@link Layout#ORDER}.
 */
final class ForeignKeySubscribers extends Operator {
    /** The side of the left table's rows; those of the right one have any other. */
    static final int LEFT_SIDE = 0;

    private static final long serialVersionUID = 1L;

    private final DataType keyType;
    private final DataType headersType;
    private final DataType leftType;
    private final DataType rightType;
    private final boolean keepsLeft;
    private final boolean onlyLast;
    private transient ValueState<InternalRow> table;
    private transient MapState<InternalRow, InternalRow> subscribers;

    ForeignKeySubscribers(StructType input, boolean keepsLeft, boolean onlyLast) {
        this.keyType = Layout.payload(input, 0);
        this.headersType = Layout.payload(input, 1);
        this.leftType = Layout.payload(input, 3);
        this.rightType = Layout.payload(input, 4);
        this.keepsLeft = keepsLeft;
        this.onlyLast = onlyLast;
    }

    @Override
    StructType output() {
        return fields("key", keyType)
                .add("headers", headersType, true)
                .add("time", DataTypes.LongType, false)
                .add("left", leftType, true)
                .add("right", rightType, true)
                .add("version", DataTypes.LongType, false)
                .add("subscription", DataTypes.IntegerType, false)
                .add("there", DataTypes.BooleanType, false)
                .add("order", Layout.ORDER, false);
    }

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        table = state("table", fields("value", rightType).add("time", DataTypes.LongType, false));
        StructType left =
                fields("value", leftType)
                        .add("time", DataTypes.LongType, false)
                        .add("version", DataTypes.LongType, false);
        subscribers =
                getHandle()
                        .getMapState(
                                "subscribers",
                                StructEncoder.ofColumns(fields("key", keyType)),
                                StructEncoder.of("left", left),
                                TTLConfig.NONE());
    }

    @Override
    void process(List<InternalRow> rows, TimerValues time, List<InternalRow> results) {
        InternalRow stored = table.get();
        InternalRow right = stored;
        InternalRow changedBy = null;
        for (InternalRow row : rows) {
            if (Layout.side(row) == LEFT_SIDE) {
                takeLeft(row, right, results);
            } else {
                Object value = Layout.payload(row, 4, rightType);
                right = value == null ? null : row(value, timeOf(row));
                changedBy = row;
                if (!onlyLast) {
                    tellAll(row, right, results);
                }
            }
        }
        if (changedBy == null) {
            return;
        }
        if (onlyLast) {
            // A row that changes often in one batch tells its many subscribers once.
            tellAll(changedBy, right, results);
        }
        if (right != null) {
            table.update(right);
        } else if (stored != null) {
            table.clear();
        }
    }

    private void takeLeft(InternalRow row, InternalRow right, List<InternalRow> results) {
        Object key = Layout.payload(row, 0, keyType);
        Object value = Layout.payload(row, 3, leftType);
        long version = (long) Layout.payload(row, 5, DataTypes.LongType);
        int ordinal = (int) Layout.payload(row, 6, DataTypes.IntegerType);
        Subscription subscription = Subscription.of(ordinal);
        boolean stays = subscription != Subscription.LEAVE && subscription != Subscription.DELETE;
        // What refers to nothing meets nobody: a left join gives it alone.
        if ((boolean) Layout.payload(row, 7, DataTypes.BooleanType)) {
            if (stays) {
                subscribers.updateValue(row(key), row(value, timeOf(row), version));
            } else {
                subscribers.removeKey(row(key));
            }
        }
        InternalRow left = stays ? row(value, timeOf(row), version) : null;
        results.add(told(row, key, left, right, version, subscription, results.size()));
    }

    private void tellAll(InternalRow row, InternalRow right, List<InternalRow> results) {
        Iterator<Tuple2<InternalRow, InternalRow>> all = subscribers.iterator();
        while (all.hasNext()) {
            Tuple2<InternalRow, InternalRow> each = all.next();
            InternalRow left = each._2();
            results.add(
                    told(
                            row,
                            each._1().get(0, keyType),
                            left,
                            right,
                            left.getLong(2),
                            Subscription.ENTER,
                            results.size()));
        }
    }

    private InternalRow told(
            InternalRow row,
            Object key,
            InternalRow left,
            InternalRow right,
            long version,
            Subscription subscription,
            int others) {
        long later = timeOf(row);
        later = left == null ? later : Math.max(later, left.getLong(1));
        later = right == null ? later : Math.max(later, right.getLong(1));
        return row(
                key,
                Layout.payload(row, 1, headersType),
                later,
                left == null ? null : left.get(0, leftType),
                right == null ? null : right.get(0, rightType),
                version,
                subscription.ordinal(),
                left != null && (right != null || keepsLeft),
                Layout.order(row, others));
    }

    private static long timeOf(InternalRow row) {
        return (long) Layout.payload(row, 2, DataTypes.LongType);
    }
}
