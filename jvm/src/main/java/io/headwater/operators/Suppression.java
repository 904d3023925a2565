package io.headwater.operators;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
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
 * Holds the rows of a table back in one buffer: of each identity the last one, until a limit after its
 * first has passed, or until there is no more room.
 *
 * <p>Payload: the identity, the row, its time. Output: the row, and the {@link Layout#ORDER}. A call
 * reads the whole buffer, as Kafka Streams has it in memory, and writes what has changed.
 */
final class Suppression extends Operator {
    private static final long serialVersionUID = 1L;

    private static final Comparator<Waiting> BY_AGE =
            Comparator.<Waiting>comparingLong(each -> each.since)
                    .thenComparingLong(each -> each.number);

    private final DataType idType;
    private final DataType rowType;
    private final long limit;
    private final long maxRecords;
    private final long maxBytes;
    private final boolean emitsEarly;
    private transient ValueState<InternalRow> clock;
    private transient MapState<InternalRow, InternalRow> buffer;

    Suppression(
            StructType input, long limit, long maxRecords, long maxBytes, boolean emitsEarly) {
        this.idType = Layout.payload(input, 0);
        this.rowType = Layout.payload(input, 1);
        this.limit = limit;
        this.maxRecords = maxRecords;
        this.maxBytes = maxBytes;
        this.emitsEarly = emitsEarly;
    }

    @Override
    StructType output() {
        return fields("kept", rowType).add("order", Layout.ORDER, false);
    }

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        clock =
                state(
                        "clock",
                        new StructType()
                                .add("seen", DataTypes.LongType, false)
                                .add("number", DataTypes.LongType, false));
        StructType waiting =
                fields("id", idType)
                        .add("kept", rowType, true)
                        .add("since", DataTypes.LongType, false)
                        .add("number", DataTypes.LongType, false);
        buffer =
                getHandle()
                        .getMapState(
                                "buffer",
                                StructEncoder.ofColumns(fields("id", idType)),
                                StructEncoder.of("waiting", waiting),
                                TTLConfig.NONE());
    }

    @Override
    void process(List<InternalRow> rows, TimerValues time, List<InternalRow> results) {
        InternalRow saved = clock.get();
        long seen = saved == null ? Long.MIN_VALUE : saved.getLong(0);
        long number = saved == null ? 0 : saved.getLong(1);
        Held held = new Held();
        for (InternalRow row : rows) {
            seen = Math.max(seen, (long) Layout.payload(row, 2, DataTypes.LongType));
            number += held.put(row, number) ? 1 : 0;
            while (!held.isEmpty() && held.oldest().since <= seen - limit) {
                results.add(held.given(row, results.size()));
            }
            while (held.isOver()) {
                if (!emitsEarly) {
                    throw new IllegalStateException(held.refusal());
                }
                results.add(held.given(row, results.size()));
            }
        }
        held.save();
        clock.update(row(seen, number));
    }

    /** A row that waits for its time. */
    private static final class Waiting {
        private final InternalRow id;
        private final long since;
        private final long number;
        private final boolean isStored;
        private InternalRow kept;
        private boolean isChanged;

        Waiting(InternalRow id, long since, long number, boolean isStored) {
            this.id = id;
            this.since = since;
            this.number = number;
            this.isStored = isStored;
        }

        long bytes() {
            return ((UnsafeRow) kept).getSizeInBytes();
        }
    }

    /** The buffer during one call. */
    private final class Held {
        private final Map<InternalRow, Waiting> byId = new HashMap<>();
        private final TreeSet<Waiting> byAge = new TreeSet<>(BY_AGE);
        private long bytes;

        Held() {
            Iterator<Tuple2<InternalRow, InternalRow>> all = buffer.iterator();
            while (all.hasNext()) {
                InternalRow each = all.next()._2();
                InternalRow id = (InternalRow) each.get(0, idType);
                Waiting waiting = new Waiting(id, each.getLong(2), each.getLong(3), true);
                waiting.kept = (InternalRow) each.get(1, rowType);
                add(waiting);
            }
        }

        /** Keep a row; tells whether it is the first of its identity. */
        boolean put(InternalRow row, long number) {
            InternalRow id = (InternalRow) Layout.payload(row, 0, idType);
            Waiting waiting = byId.get(id);
            boolean isFirst = waiting == null;
            if (isFirst) {
                long since = (long) Layout.payload(row, 2, DataTypes.LongType);
                waiting = new Waiting(id, since, number, false);
            } else {
                bytes -= waiting.bytes();
                byAge.remove(waiting);
            }
            waiting.kept = (InternalRow) Layout.payload(row, 1, rowType);
            waiting.isChanged = true;
            add(waiting);
            return isFirst;
        }

        boolean isEmpty() {
            return byAge.isEmpty();
        }

        Waiting oldest() {
            return byAge.first();
        }

        boolean isOver() {
            return byAge.size() > maxRecords || bytes > maxBytes;
        }

        /** Take the oldest out, as a result that this row has caused. */
        InternalRow given(InternalRow cause, int others) {
            Waiting oldest = byAge.pollFirst();
            byId.remove(oldest.id);
            bytes -= oldest.bytes();
            if (oldest.isStored) {
                buffer.removeKey(row(oldest.id));
            }
            return row(oldest.kept, Layout.order(cause, others));
        }

        String refusal() {
            return "headwater: the buffer of suppress is full: "
                    + byAge.size()
                    + " records of "
                    + bytes
                    + " bytes wait; give it more room, or let it emit early";
        }

        void save() {
            for (Waiting each : byAge) {
                if (each.isChanged) {
                    buffer.updateValue(
                            row(each.id), row(each.id, each.kept, each.since, each.number));
                }
            }
        }

        private void add(Waiting waiting) {
            byId.put(waiting.id, waiting);
            byAge.add(waiting);
            bytes += waiting.bytes();
        }
    }
}
