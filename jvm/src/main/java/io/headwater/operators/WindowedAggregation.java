package io.headwater.operators;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;

/**
 * Folds the rows of a key into a state for each window, and gives out the state after each row, or
 * when the window has closed.
 *
 * <p>A window is closed when its end and the grace lie behind the latest time seen: that of the
 * key's own rows so far, or Spark's watermark where the query has one. A row that comes after that
 * is late for the window; it comes out marked, without a state, and changes nothing.
 */
final class WindowedAggregation extends EventTimeOperator {
    private static final long serialVersionUID = 1L;

    private static final StructType CLOCK =
            new StructType()
                    .add("seen", DataTypes.LongType, false)
                    .add("oldest", DataTypes.LongType, false);

    private final Windows windows;
    private transient ValueState<InternalRow> clock;
    private transient MapState<Long, InternalRow> aggregates;

    WindowedAggregation(StructType input, Fold fold, Windows windows, Emit emit) {
        super(input, fold, emit);
        this.windows = windows;
    }

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        super.init(outputMode, timeMode);
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
            InternalRow values = values(row);
            InternalRow carried = carried(row);
            long at = timeOf(values);
            seen = Math.max(seen, at);
            for (long start = windows.firstStart(at); start <= at; start += windows.advance()) {
                InternalRow order = Layout.order(row, results.size());
                long end = start + windows.size();
                if (windows.closed(start, seen)) {
                    results.add(row(carried, null, start, end, true, false, order));
                    continue;
                }
                InternalRow current = changed.get(start);
                InternalRow next = fold.after(current == null ? stored(start) : current, values);
                changed.put(start, next);
                oldest = Math.min(oldest, start);
                if (emit != Emit.FINAL) {
                    InternalRow result = row(carried, next, start, end, false, false, order);
                    results.add(result);
                    lastResults.put(start, result);
                }
            }
        }
        lastResults.values().forEach(result -> result.setBoolean(LAST, true));
        for (Map.Entry<Long, InternalRow> window : changed.entrySet()) {
            aggregates.updateValue(window.getKey(), window.getValue());
        }
        save(seen, dropClosed(oldest, seen, carried(rows.get(0)), results), saved);
    }

    @Override
    void expire(long fired, TimerValues time, InternalRow carried, List<InternalRow> results) {
        InternalRow saved = clock.get();
        if (saved != null) {
            long seen = Math.max(saved.getLong(0), watermark(time));
            save(seen, dropClosed(saved.getLong(1), seen, carried, results), saved);
        }
    }

    private InternalRow stored(long start) {
        return aggregates.containsKey(start) ? aggregates.getValue(start) : null;
    }

    /** Forget the windows that take no more rows; returns the start of the oldest that is left. */
    private long dropClosed(
            long oldest, long seen, InternalRow carried, List<InternalRow> results) {
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
        Collections.sort(closed);
        for (long start : closed) {
            if (emit == Emit.FINAL) {
                InternalRow state = aggregates.getValue(start);
                OpenWindow window = OpenWindow.of(start, start + windows.size(), state);
                results.add(closing(carried, window, results.size()));
            }
            aggregates.removeKey(start);
        }
        return left;
    }

    private void save(long seen, long oldest, InternalRow saved) {
        if (hasTimers() && oldest == NEVER) {
            // The watermark remembers what this key has seen, at the latest in the next batch.
            clock.clear();
            return;
        }
        clock.update(row(seen, oldest));
        if (hasTimers() && (saved == null || saved.getLong(1) != oldest)) {
            // Rounded up: at this millisecond the window is closed for certain.
            getHandle().registerTimer(-Math.floorDiv(-windows.closesAt(oldest), 1000L));
        }
    }
}
