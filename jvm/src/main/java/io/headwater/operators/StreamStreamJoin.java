package io.headwater.operators;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.Encoders;
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

/**
 * Pairs the records of two streams that are close in time.
 *
 * <p>Each record meets those of the other stream that came before it, the oldest first. One that
 * meets nobody comes out alone, if its side is kept, when nobody can come any more: the time of
 * either stream has passed its span and the grace. Or, {@code atOnce}, it comes out when it arrives,
 * and again with each partner that comes later.
 *
 * <p>Records are kept for as long as one that is not late can reach back to them, by the latest time
 * of their own stream, and by Spark's watermark, which is that of both.
 *
 * <p>Payload: the key, the headers, the record's time, the left value, the right value. A record
 * without a key meets nobody; one without a value moves time, and that is all. Output: the key, both
 * values, the time of the later record, the headers of the one that came last, the {@link
 * Layout#ORDER}.
 */
final class StreamStreamJoin extends TimedOperator {
    /** The side of the left stream's rows; those of the right one have any other. */
    static final int LEFT_SIDE = 0;

    private static final long serialVersionUID = 1L;

    private final DataType keyType;
    private final DataType headersType;
    private final DataType leftType;
    private final DataType rightType;
    private final JoinSpan span;
    private final boolean keepsLeft;
    private final boolean keepsRight;
    private final boolean atOnce;
    private transient ValueState<InternalRow> known;
    private transient MapState<Long, InternalRow> movedLefts;
    private transient MapState<Long, InternalRow> movedRights;

    StreamStreamJoin(
            StructType input, JoinSpan span, boolean keepsLeft, boolean keepsRight, boolean atOnce) {
        this.keyType = Layout.payload(input, 0);
        this.headersType = Layout.payload(input, 1);
        this.leftType = Layout.payload(input, 3);
        this.rightType = Layout.payload(input, 4);
        this.span = span;
        this.keepsLeft = keepsLeft;
        this.keepsRight = keepsRight;
        this.atOnce = atOnce;
    }

    @Override
    StructType output() {
        return fields("key", keyType)
                .add("left", leftType, true)
                .add("right", rightType, true)
                .add("time", DataTypes.LongType, false)
                .add("headers", headersType, true)
                .add("order", Layout.ORDER, false);
    }

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        super.init(outputMode, timeMode);
        StructType both =
                new StructType()
                        .add("seen", DataTypes.LongType, false)
                        .add("timer", DataTypes.LongType, false)
                        .add("left", JoinSide.fields(recordFields(leftType)), false)
                        .add("right", JoinSide.fields(recordFields(rightType)), false);
        known = state("known", both);
        movedLefts = moved("left", leftType);
        movedRights = moved("right", rightType);
    }

    private StructType recordFields(DataType value) {
        return fields("value", value).add("headers", headersType, true);
    }

    private MapState<Long, InternalRow> moved(String name, DataType value) {
        Encoder<InternalRow> rows = StructEncoder.of(name, recordFields(value));
        return getHandle().getMapState(name, Encoders.LONG(), rows, TTLConfig.NONE());
    }

    @Override
    void process(List<InternalRow> rows, TimerValues time, List<InternalRow> results) {
        Object key = Layout.payload(rows.get(0), 0, keyType);
        if (key == null) {
            for (InternalRow row : rows) {
                boolean left = isLeft(row);
                if (value(row, left) != null && keeps(left)) {
                    results.add(alone(null, record(row, left), left, timeOf(row), row, results));
                }
            }
            return;
        }
        Both both = new Both(known.get());
        long watermark = watermark(time);
        both.pass(watermark, key, rows.get(0), results);
        for (InternalRow row : rows) {
            both.take(row, key, results);
        }
        both.save(watermark);
    }

    @Override
    void expire(InternalRow key, long fired, TimerValues time, List<InternalRow> results) {
        InternalRow saved = known.get();
        if (saved == null) {
            return;
        }
        Both both = new Both(saved);
        long watermark = watermark(time);
        both.timer = both.timer <= fired ? NEVER : both.timer;
        // Before its columns, a key has their hash.
        both.pass(watermark, key.get(1, keyType), null, results);
        both.save(watermark);
    }

    private boolean keeps(boolean left) {
        return left ? keepsLeft : keepsRight;
    }

    private Object value(InternalRow row, boolean left) {
        return Layout.payload(row, left ? 3 : 4, left ? leftType : rightType);
    }

    /** What is kept of a record: its headers only where it may come out for itself. */
    private InternalRow record(InternalRow row, boolean left) {
        Object headers = keeps(left) ? Layout.payload(row, 1, headersType) : null;
        return row(value(row, left), headers);
    }

    private InternalRow alone(
            Object key,
            InternalRow record,
            boolean left,
            long at,
            InternalRow cause,
            List<InternalRow> results) {
        Object value = valueOf(record, left);
        Object headers = record.isNullAt(1) ? null : record.get(1, headersType);
        int others = results.size();
        InternalRow order = cause == null ? row((long) others, at) : Layout.order(cause, others);
        return row(key, left ? value : null, left ? null : value, at, headers, order);
    }

    private Object valueOf(InternalRow record, boolean left) {
        return record.get(0, left ? leftType : rightType);
    }

    private static boolean isLeft(InternalRow row) {
        return Layout.side(row) == LEFT_SIDE;
    }

    private static long timeOf(InternalRow row) {
        return (long) Layout.payload(row, 2, DataTypes.LongType);
    }

    /** Both streams as they are for the key at hand. */
    private final class Both {
        private final JoinSide left;
        private final JoinSide right;
        private final boolean isNew;
        private long seen;
        private long timer;

        Both(InternalRow saved) {
            isNew = saved == null;
            seen = isNew ? Long.MIN_VALUE : saved.getLong(0);
            timer = isNew ? NEVER : saved.getLong(1);
            left = new JoinSide(movedLefts, isNew ? null : saved.getStruct(2, 3));
            right = new JoinSide(movedRights, isNew ? null : saved.getStruct(3, 3));
        }

        /** Take note of the time that all records before this batch have reached. */
        void pass(long watermark, Object key, InternalRow cause, List<InternalRow> results) {
            seen = Math.max(seen, watermark);
            settle(key, cause, results);
            forget(watermark);
        }

        void take(InternalRow row, Object key, List<InternalRow> results) {
            boolean isLeft = isLeft(row);
            long at = timeOf(row);
            seen = Math.max(seen, at);
            Object value = value(row, isLeft);
            if (value == null) {
                return;
            }
            settle(key, row, results);
            JoinSide own = isLeft ? left : right;
            JoinSide other = isLeft ? right : left;
            long oldest = Math.max(at - span.back(isLeft), other.latest - span.retention() + 1);
            List<JoinSide.Waiting> partners = other.between(oldest, at + span.reach(isLeft));
            for (JoinSide.Waiting partner : partners) {
                partner.alone = false;
                Object met = valueOf(other.row(partner), !isLeft);
                results.add(
                        row(
                                key,
                                isLeft ? value : met,
                                isLeft ? met : value,
                                Math.max(at, partner.time),
                                Layout.payload(row, 1, headersType),
                                Layout.order(row, results.size())));
            }
            InternalRow record = record(row, isLeft);
            boolean isAlone = partners.isEmpty() && keeps(isLeft);
            if (isAlone && (atOnce || span.patience(at, isLeft) < seen)) {
                results.add(alone(key, record, isLeft, at, row, results));
                isAlone = false;
            }
            own.latest = Math.max(own.latest, at);
            own.add(at, isAlone, record);
            own.forget(own.latest - span.retention());
        }

        /** Give out the records that nobody can meet any more. */
        void settle(Object key, InternalRow cause, List<InternalRow> results) {
            if (atOnce || !keepsLeft && !keepsRight) {
                return; // nobody waits
            }
            List<Due> due = new ArrayList<>();
            collect(left, true, due);
            collect(right, false, due);
            // As in Kafka Streams: by time, and at equal times those of the right stream first.
            due.sort(
                    Comparator.<Due>comparingLong(each -> each.record.time)
                            .thenComparing(each -> each.isLeft));
            for (Due each : due) {
                JoinSide side = each.isLeft ? left : right;
                long at = each.record.time;
                each.record.alone = false;
                results.add(
                        alone(key, side.row(each.record), each.isLeft, at, cause, results));
            }
        }

        private void collect(JoinSide side, boolean isLeft, List<Due> due) {
            for (JoinSide.Waiting record : side.all()) {
                if (span.patience(record.time, isLeft) >= seen) {
                    return;
                }
                if (record.alone) {
                    due.add(new Due(record, isLeft));
                }
            }
        }

        /** A record that is not late reaches back so far, and no further. */
        private void forget(long watermark) {
            if (hasTimers()) {
                long oldest = watermark - span.retention();
                left.forget(oldest);
                right.forget(oldest);
            }
        }

        void save(long watermark) {
            forget(watermark);
            if (hasTimers() && left.all().isEmpty() && right.all().isEmpty()) {
                // The watermark remembers what this key has seen, at the latest in the next batch.
                if (!isNew) {
                    known.clear();
                }
                return;
            }
            if (hasTimers()) {
                // The first whole millisecond at which there is something to give out, or nothing
                // left to keep; what is too old before that is forgotten when the key comes again.
                long next = Math.max(lastOf(left), lastOf(right));
                next = Math.min(next, Math.min(patience(left, true), patience(right, false)));
                long due = Math.floorDiv(next, 1000L) + 1;
                if (due < timer) {
                    timer = due;
                    getHandle().registerTimer(due);
                }
            }
            known.update(row(seen, timer, left.save(), right.save()));
        }

        /** When the last of them is too old. */
        private long lastOf(JoinSide side) {
            List<JoinSide.Waiting> all = side.all();
            return all.isEmpty()
                    ? Long.MIN_VALUE
                    : Math.addExact(all.get(all.size() - 1).time, span.retention());
        }

        /** When the first that met nobody has waited long enough. */
        private long patience(JoinSide side, boolean isLeft) {
            for (JoinSide.Waiting record : side.all()) {
                if (record.alone) {
                    return span.patience(record.time, isLeft);
                }
            }
            return NEVER;
        }
    }

    private record Due(JoinSide.Waiting record, boolean isLeft) {}
}
