package io.headwater.operators;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.ExpiredTimerInfo;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Folds the rows of a key into a state for each window, and gives out the state after each row.
 *
 * <p>A window is closed when its end and the grace lie behind the latest time seen: that of the
 * key's own rows so far, or Spark's watermark where the query has one. A row that comes after that
 * is late for the window; it comes out marked, without a state, and changes nothing.
 *
 * <p>Payload: the values for the fold, what is carried to the output. Output: what is carried, the
 * state, the window's start, whether the row was late for it, whether the state is the window's
 * last one of the batch, and the {@link Layout#ORDER}. The last of the values is the row's time.
 */
final class WindowedAggregation extends Operator {
    private static final long serialVersionUID = 1L;

    private static final int LAST = 4;
    private static final long NEVER = Long.MAX_VALUE;
    private static final StructType CLOCK =
            new StructType()
                    .add("seen", DataTypes.LongType, false)
                    .add("oldest", DataTypes.LongType, false);

    private final Fold fold;
    private final Windows windows;
    private final StructType valueType;
    private final DataType carriedType;
    private transient ValueState<InternalRow> clock;
    private transient MapState<Long, InternalRow> aggregates;
    private transient boolean hasTimers;

    WindowedAggregation(StructType input, Fold fold, Windows windows) {
        this.fold = fold;
        this.windows = windows;
        this.valueType = (StructType) Layout.payload(input, 0);
        this.carriedType = Layout.payload(input, 1);
    }

    @Override
    StructType output() {
        return fields("carried", carriedType)
                .add("state", fold.fields(), true)
                .add("start", DataTypes.LongType, false)
                .add("late", DataTypes.BooleanType, false)
                .add("last", DataTypes.BooleanType, false)
                .add("order", Layout.ORDER, false);
    }

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        hasTimers = timeMode.equals(TimeMode.EventTime());
        clock = state("clock", CLOCK);
        aggregates =
                getHandle()
                        .getMapState(
                                "windows",
                                Encoders.LONG(),
                                StructEncoder.of("aggregate", fold.fields()),
                                TTLConfig.NONE());
    }

    @Override
    void process(List<InternalRow> rows, TimerValues time, List<InternalRow> results) {
        InternalRow saved = clock.get();
        long oldest = saved == null ? NEVER : saved.getLong(1);
        long seen = Math.max(saved == null ? Long.MIN_VALUE : saved.getLong(0), watermark(time));
        Map<Long, InternalRow> changed = new HashMap<>();
        Map<Long, InternalRow> lastResults = new HashMap<>();
        for (InternalRow row : rows) {
            InternalRow values = (InternalRow) Layout.payload(row, 0, valueType);
            Object carried = Layout.payload(row, 1, carriedType);
            long last = values.getLong(valueType.length() - 1);
            seen = Math.max(seen, last);
            for (long start = windows.firstStart(last); start <= last; start += windows.advance()) {
                InternalRow order = Layout.order(row, results.size());
                if (windows.closed(start, seen)) {
                    results.add(row(carried, null, start, true, false, order));
                    continue;
                }
                InternalRow current = changed.get(start);
                InternalRow next = fold.after(current == null ? stored(start) : current, values);
                changed.put(start, next);
                oldest = Math.min(oldest, start);
                InternalRow result = row(carried, next, start, false, false, order);
                results.add(result);
                lastResults.put(start, result);
            }
        }
        lastResults.values().forEach(result -> result.setBoolean(LAST, true));
        for (Map.Entry<Long, InternalRow> window : changed.entrySet()) {
            aggregates.updateValue(window.getKey(), window.getValue());
        }
        save(saved, seen, dropClosed(oldest, seen));
    }

    @Override
    public Iterator<InternalRow> handleExpiredTimer(
            InternalRow key, TimerValues time, ExpiredTimerInfo expired) {
        InternalRow saved = clock.get();
        if (saved != null) {
            long seen = Math.max(saved.getLong(0), watermark(time));
            save(saved, seen, dropClosed(saved.getLong(1), seen));
        }
        return CollectionConverters.asScala(List.<InternalRow>of().iterator());
    }

    private InternalRow stored(long start) {
        return aggregates.containsKey(start) ? aggregates.getValue(start) : null;
    }

    /** Forget the windows that take no more rows; returns the start of the oldest that is left. */
    private long dropClosed(long oldest, long seen) {
        if (oldest == NEVER || !windows.closed(oldest, seen)) {
            return oldest;
        }
        List<Long> closed = new ArrayList<>();
        long left = NEVER;
        Iterator<Long> starts = aggregates.keys();
        while (starts.hasNext()) {
            long start = starts.next();
            if (windows.closed(start, seen)) {
                closed.add(start);
            } else {
                left = Math.min(left, start);
            }
        }
        closed.forEach(aggregates::removeKey);
        return left;
    }

    private void save(InternalRow saved, long seen, long oldest) {
        if (hasTimers && oldest == NEVER) {
            // The watermark remembers what this key has seen, at the latest in the next batch.
            clock.clear();
            return;
        }
        clock.update(row(seen, oldest));
        if (hasTimers && (saved == null || saved.getLong(1) != oldest)) {
            // Rounded up: at this millisecond the window is closed for certain.
            getHandle().registerTimer(-Math.floorDiv(-windows.closesAt(oldest), 1000L));
        }
    }

    private long watermark(TimerValues time) {
        return hasTimers
                ? TimeUnit.MILLISECONDS.toMicros(time.getCurrentWatermarkInMs())
                : Long.MIN_VALUE;
    }
}
