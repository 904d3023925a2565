package io.headwater.operators;

import java.util.ArrayList;
import java.util.Comparator;
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
 * The last of three parts of a foreign-key join, by the left table's key: takes what the foreign keys
 * say, in the order of the left row's versions, and leaves out what is older than what was said.
 *
 * <p>Payload: what is carried, the time, both values, the left row's version, its {@link
 * Subscription}, whether there is a pair. Output: what is carried, both values, the time, whether the
 * pair is gone, and the {@link Layout#ORDER}.
 *
 * <p>Foreign keys answer independently of each other, so that an answer for a version can come after
 * those for the next. The version is remembered as long as there may be such: until everybody who
 * was left has said so.
 *
 * <p>A pair that was not there has no end, unless {@code repeatsEnds}: then there is a tombstone
 * whenever either row changes and there is no pair, but for a left row that is new, as in Kafka Streams.
 */
final class ForeignKeyResponses extends Operator {
    private static final long serialVersionUID = 1L;

    private static final StructType STATE =
            new StructType()
                    .add("version", DataTypes.LongType, false)
                    .add("there", DataTypes.BooleanType, false)
                    .add("awaited", DataTypes.IntegerType, false);

    private final DataType carriedType;
    private final DataType leftType;
    private final DataType rightType;
    private final boolean onlyLast;
    private final boolean repeatsEnds;
    private transient ValueState<InternalRow> answered;

    ForeignKeyResponses(StructType input, boolean onlyLast, boolean repeatsEnds) {
        this.carriedType = Layout.payload(input, 0);
        this.leftType = Layout.payload(input, 2);
        this.rightType = Layout.payload(input, 3);
        this.onlyLast = onlyLast;
        this.repeatsEnds = repeatsEnds;
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
        answered = state("answered", STATE);
    }

    @Override
    void process(List<InternalRow> rows, TimerValues time, List<InternalRow> results) {
        InternalRow stored = answered.get();
        long version = stored == null ? Long.MIN_VALUE : stored.getLong(0);
        boolean wasThere = stored != null && stored.getBoolean(1);
        int awaited = stored == null ? 0 : stored.getInt(2);
        boolean isThere = wasThere;
        InternalRow last = null;
        List<InternalRow> inOrder = new ArrayList<>(rows);
        // Answers for one version come from one foreign key, and are in their order.
        inOrder.sort(Comparator.comparingLong(ForeignKeyResponses::version));
        for (InternalRow row : inOrder) {
            int ordinal = (int) Layout.payload(row, 5, DataTypes.IntegerType);
            Subscription subscription = Subscription.of(ordinal);
            if (subscription == Subscription.LEAVE) {
                awaited--;
                continue;
            }
            awaited += subscription == Subscription.MOVE ? 1 : 0;
            if (version(row) < version) {
                continue;
            }
            version = version(row);
            boolean before = isThere;
            isThere = (boolean) Layout.payload(row, 6, DataTypes.BooleanType);
            boolean isRepeated = repeatsEnds && subscription != Subscription.BEGIN;
            if (isThere || before || isRepeated) {
                last = result(row, !isThere, results.size());
                if (!onlyLast) {
                    results.add(last);
                }
            }
        }
        // What came and went within one batch was never seen.
        if (onlyLast && last != null && (isThere || wasThere || repeatsEnds)) {
            results.add(last);
        }
        if (isThere || awaited != 0) {
            answered.update(row(version, isThere, awaited));
        } else if (stored != null) {
            answered.clear();
        }
    }

    private InternalRow result(InternalRow row, boolean gone, int others) {
        return row(
                Layout.payload(row, 0, carriedType),
                Layout.payload(row, 2, leftType),
                Layout.payload(row, 3, rightType),
                Layout.payload(row, 1, DataTypes.LongType),
                gone,
                Layout.order(row, others));
    }

    private static long version(InternalRow row) {
        return (long) Layout.payload(row, 4, DataTypes.LongType);
    }
}
